import { isUtf8 } from 'node:buffer';
import {
  type AppendResult,
  BEGINNING,
  type EventStore,
  type Head,
  type NewerEvents,
  OutcomeUnknown,
  type ReadResult,
  UnreadableHistory,
} from '../../application';
import type { PlantEvent } from '../../domain';
import { APPEND, APPEND_SHA1 } from './append-script';
import type { RedisConnection } from './connection';
import { appendFault, readFault } from './faults';
import { PageSizes } from './page-sizes';
import { type Entry, decodeEntry, encodeEvent } from './storage-format';
import { streamKey } from './stream-key';

export interface RedisEventStoreOptions {
  readonly keyPrefix: string;
  /** How many replicas must hold an append before it is acknowledged; 0 or more. */
  readonly waitReplicas: number;
  /** The most events of a page, 1 or more; 128 by default. A page of large events has fewer. */
  readonly pageSize?: number;
}

/** How many newer events a conflict brings at most; the rest is read page by page. */
const CONFLICT_EVENTS = 16;

/**
 * Keeps each stream in a Redis stream of its own, whose entry ids are the
 * versions. Appends are one script (see append-script.ts), reads one XRANGE
 * that begins at the entry the caller knows: if it is not there, or bears
 * another commit, the history that the caller knows is gone.
 */
export class RedisEventStore implements EventStore {
  readonly #pages: PageSizes;

  /** @param reader may be the writer, unless that one has to wait for replicas. */
  constructor(
    private readonly writer: RedisConnection,
    private readonly reader: RedisConnection,
    private readonly options: RedisEventStoreOptions,
  ) {
    this.#pages = new PageSizes(options.pageSize);
  }

  async read(stream: string, after: Head): Promise<ReadResult> {
    const limit = this.#pages.next(stream, after.version);
    try {
      const { client } = this.reader;
      const key = streamKey(this.options.keyPrefix, stream);
      const [reply] = await Promise.all([
        client.xrange(key, `${after.version}-0`, '+', 'COUNT', entryCount(after, limit)),
        this.reader.mustBePrimary(),
      ]);
      const entries = reply as Entry[];
      const known = after.version > 0 ? entries.shift() : undefined;
      if (commitAt(after.version, known) !== after.commit) return { status: 'reset' };
      this.#pages.arrived(stream, entries.length, bytesOf(entries));
      return { status: 'read', ...(await newerEvents(client, key, entries, after, limit)) };
    } catch (error) {
      if (isTimeout(error)) this.#pages.late(stream, limit);
      throw readFault(error);
    }
  }

  async append(
    stream: string,
    expected: Head,
    commit: string,
    events: readonly PlantEvent[],
  ): Promise<AppendResult> {
    if (events.length === 0 || commit === '')
      throw new RangeError('an append needs a commit id and an event');
    const key = streamKey(this.options.keyPrefix, stream);
    const limit = Math.min(CONFLICT_EVENTS, this.#pages.next(stream, expected.version));
    const args = [expected.version, expected.commit, commit, entryCount(expected, limit)];
    for (const event of events) {
      const { type, data } = encodeEvent(event);
      args.push(type, data);
    }
    try {
      const [status, entries] = await this.#run(key, args);
      if (status === 'appended') {
        return { status, head: { version: expected.version + events.length, commit } };
      }
      // The script has written nothing, so a server that was made a replica had nothing to refuse.
      await this.writer.mustBePrimary();
      if (status === 'reset') return { status };
      return { status, ...(await newerEvents(this.writer.client, key, entries, expected, limit)) };
    } catch (error) {
      throw appendFault(error);
    }
  }

  /** By its digest; whole where Redis has forgotten it (a restart, SCRIPT FLUSH, another node of a cluster). */
  async #run(key: string, args: (string | number)[]): Promise<Reply> {
    const { client } = this.writer;
    try {
      return await this.#confirmed(() => client.evalsha(APPEND_SHA1, 1, key, ...args));
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
      return await this.#confirmed(() => client.eval(APPEND, 1, key, ...args));
    }
  }

  /**
   * Runs the script and, where replicas are asked for, WAIT right behind it on
   * the same connection: sent in the same turn, so that no reconnect can come
   * between. (Within the script or MULTI it would not wait.)
   */
  async #confirmed(script: () => Promise<unknown>): Promise<Reply> {
    const { waitReplicas } = this.options;
    if (waitReplicas === 0) return (await script()) as Reply;
    const [reply, holders] = await Promise.all([
      script() as Promise<Reply>,
      // Its failure is an answer like others: rejected, it would pass for the script's, which may have run.
      this.writer.client.wait(waitReplicas, this.writer.waitMs).catch((error: unknown) => error),
    ]);
    const confirmed = typeof holders === 'number' && holders >= waitReplicas;
    if (reply[0] === 'appended' && !confirmed) {
      throw new OutcomeUnknown(`WAIT for ${waitReplicas} replicas was answered: ${String(holders)}`);
    }
    return reply;
  }
}

/** The known entry, a page, and one more to tell whether that was all. */
function entryCount({ version }: Head, limit: number): number {
  return (version > 0 ? 1 : 0) + limit + 1;
}

/** The page that `entries` begin with; they are read after the head. */
async function newerEvents(
  client: RedisConnection['client'],
  key: string,
  entries: readonly Entry[],
  { version }: Head,
  limit: number,
): Promise<NewerEvents> {
  const page = entries.slice(0, limit);
  await Promise.all(page.filter(isDoubtful).map(([id]) => mustBeUtf8(client, key, id)));
  return {
    events: page.map((entry, index) => decodeEntry(entry, version + 1 + index)),
    more: entries.length > limit,
  };
}

/** About how many bytes they took on their way: the texts, without what is the same in all. */
function bytesOf(entries: readonly Entry[]): number {
  return entries.reduce((bytes, [, fields]) => bytes + (fields[3]?.length ?? 0), 0);
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === 'Command timed out';
}

/** ioredis puts U+FFFD for bytes that are no UTF-8: whoever finds one cannot tell what was there. */
function isDoubtful([, fields]: Entry): boolean {
  return fields.some((field) => field.includes('\ufffd'));
}

/** Looks at the bytes of an entry. Throws {@link UnreadableHistory}. */
async function mustBeUtf8(client: RedisConnection['client'], key: string, id: string): Promise<void> {
  const [entry] = await client.xrangeBuffer(key, id, id);
  if (!(entry?.[1] ?? []).every((field) => isUtf8(field)))
    throw new UnreadableHistory(`entry ${id} holds bytes that are no UTF-8`);
}

type Reply = readonly ['appended'] | readonly ['reset'] | readonly ['conflict', readonly Entry[]];

/** By which commit the history reached `version`, where it did and `entry` stands there. */
function commitAt(version: number, entry: Entry | undefined): string | undefined {
  if (version === 0) return BEGINNING.commit;
  return entry?.[0] === `${version}-0` ? entry[1][5] : undefined;
}
