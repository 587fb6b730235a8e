import { isUtf8 } from 'node:buffer';
import {
  type AppendResult,
  BEGINNING,
  type Codec,
  type EventStore,
  type Head,
  type NewerEvents,
  type ReadResult,
  type StreamName,
  UnreadableHistory,
} from '../../event-sourcing';
import { type AppendBounds, AppendWriter } from './append-writer';
import { isTimeout } from './client';
import type { RedisConnection } from './connection';
import { appendFault, readFault } from './faults';
import { PageSizes } from './page-sizes';
import { type Entry, decodeEntry } from './entry';
import { streamKey } from './stream-key';

export interface RedisEventStoreOptions<Event> {
  /** Encodes and decodes events. */
  readonly codec: Codec<Event>;
  readonly keyPrefix: string;
  /** How many replicas must confirm an append before it is acknowledged; 0 or more. */
  readonly waitReplicas: number;
  /** Maximum number of events of a page, 1 or more; 128 by default. A page of large events has fewer. */
  readonly pageSize?: number | undefined;
  /** Queue limit of appends without a reply; `APPEND_BOUNDS` by default. */
  readonly appendBounds?: AppendBounds;
}

/** Maximum number of newer events in a conflict; the rest is read page by page. */
const CONFLICT_EVENTS = 16;

/**
 * Stores each stream of events as a Redis stream, with the versions as entry ids.
 * An append is one script (see append-script.ts). A read is one XRANGE that starts
 * at the entry of the caller's head: if it is missing, or has another commit, the
 * caller's history was lost.
 */
export class RedisEventStore<Event> implements EventStore<Event> {
  readonly #pages: PageSizes;
  readonly appends: AppendWriter;

  /** @param reader may be the writer, unless that one waits for replicas. */
  constructor(
    private readonly writer: RedisConnection,
    private readonly reader: RedisConnection,
    private readonly options: RedisEventStoreOptions<Event>,
  ) {
    this.#pages = new PageSizes(options.pageSize);
    this.appends = new AppendWriter(writer, {
      waitReplicas: options.waitReplicas,
      bounds: options.appendBounds,
    });
  }

  async read(stream: StreamName, after: Head): Promise<ReadResult<Event>> {
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
      this.#pages.recordPage(stream, entries.length, bytesOf(entries));
      return { status: 'read', ...(await this.#newerEvents(client, key, entries, after, limit)) };
    } catch (error) {
      if (isTimeout(error)) this.#pages.recordTimeout(stream, limit);
      throw readFault(error);
    }
  }

  async append(
    stream: StreamName,
    expected: Head,
    commit: string,
    events: readonly Event[],
  ): Promise<AppendResult<Event>> {
    if (events.length === 0 || commit === '')
      throw new RangeError('an append needs a commit id and an event');
    const key = streamKey(this.options.keyPrefix, stream);
    const limit = Math.min(CONFLICT_EVENTS, this.#pages.next(stream, expected.version));
    const args = [expected.version, expected.commit, commit, entryCount(expected, limit)];
    for (const event of events) {
      const { type, data } = this.options.codec.encode(event);
      args.push(type, data);
    }
    try {
      const [status, entries] = await this.appends.execute(key, args);
      if (status === 'appended') {
        return { status, head: { version: expected.version + events.length, commit } };
      }
      // The script wrote nothing, so a demoted server did not refuse it.
      await this.writer.mustBePrimary();
      if (status === 'reset') return { status };
      return { status, ...(await this.#newerEvents(this.writer.client, key, entries, expected, limit)) };
    } catch (error) {
      throw appendFault(error);
    }
  }

  /** The first page of `entries`, which follow the head. */
  async #newerEvents(
    client: RedisConnection['client'],
    key: string,
    entries: readonly Entry[],
    { version }: Head,
    limit: number,
  ): Promise<NewerEvents<Event>> {
    const { codec } = this.options;
    const page = entries.slice(0, limit);
    await Promise.all(page.filter(mayBeInvalidUtf8).map(([id]) => mustBeUtf8(client, key, id)));
    return {
      events: page.map((entry, index) => decodeEntry(entry, version + 1 + index, codec)),
      more: entries.length > limit,
    };
  }
}

/** Number of entries to read: the known one, a page, and one more to detect further entries. */
function entryCount({ version }: Head, limit: number): number {
  return (version > 0 ? 1 : 0) + limit + 1;
}

/** Estimated size of the entries, in bytes: their data only. */
function bytesOf(entries: readonly Entry[]): number {
  return entries.reduce((bytes, [, fields]) => bytes + (fields[3]?.length ?? 0), 0);
}

/** Whether the entry may have invalid UTF-8, which ioredis replaces by U+FFFD. */
function mayBeInvalidUtf8([, fields]: Entry): boolean {
  return fields.some((field) => field.includes('\ufffd'));
}

/** Checks the bytes of an entry. Rejects with {@link UnreadableHistory}. */
async function mustBeUtf8(client: RedisConnection['client'], key: string, id: string): Promise<void> {
  const [entry] = await client.xrangeBuffer(key, id, id);
  if (!(entry?.[1] ?? []).every((field) => isUtf8(field)))
    throw new UnreadableHistory(`entry ${id} is not UTF-8`);
}

/** The commit at `version`; `undefined` if `entry` is not the entry of that version. */
function commitAt(version: number, entry: Entry | undefined): string | undefined {
  if (version === 0) return BEGINNING.commit;
  return entry?.[0] === `${version}-0` ? entry[1][5] : undefined;
}
