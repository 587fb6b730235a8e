import { isUtf8 } from 'node:buffer';
import {
  type AppendResult,
  BEGINNING,
  type EventStore,
  type Head,
  type NewerEvents,
  type ReadResult,
  UnreadableHistory,
} from '../../application';
import type { PlantEvent } from '../../domain';
import { type AppendBounds, AppendWriter } from './append-writer';
import { isTimeout } from './client';
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
  /** How much the store holds of what Redis has not answered; `APPEND_BOUNDS` by default. */
  readonly appendBounds?: AppendBounds;
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
  readonly appends: AppendWriter;

  /** @param reader may be the writer, unless that one has to wait for replicas. */
  constructor(
    private readonly writer: RedisConnection,
    private readonly reader: RedisConnection,
    private readonly options: RedisEventStoreOptions,
  ) {
    this.#pages = new PageSizes(options.pageSize);
    this.appends = new AppendWriter(writer, {
      waitReplicas: options.waitReplicas,
      bounds: options.appendBounds,
    });
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
      const [status, entries] = await this.appends.execute(key, args);
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

/** By which commit the history reached `version`, where it did and `entry` stands there. */
function commitAt(version: number, entry: Entry | undefined): string | undefined {
  if (version === 0) return BEGINNING.commit;
  return entry?.[0] === `${version}-0` ? entry[1][5] : undefined;
}
