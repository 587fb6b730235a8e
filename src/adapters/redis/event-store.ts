import { randomInt } from 'node:crypto';
import {
  type AppendResult,
  BEGINNING,
  type EncodedEvent,
  type EventStore,
  type Head,
  type Notify,
  type ReadResult,
  type StreamName,
  UnreadableHistory,
} from '../../event-sourcing';
import { type AppendBounds, type AppendReply, AppendWriter } from './append-writer';
import { BatchedReads } from './batched-reads';
import type { RedisConnection } from './connection';
import { REDIS_DEFAULTS } from './defaults';
import { appendFault, readFault } from './faults';
import { commitText } from './feed';
import { PackedEntries, eventOf } from './entry';
import { doubtOf } from './server-doubt';
import type { PackedPage } from './stream-scripts';
import { BUCKETS, addressOf, eventKeys, feedKeys } from './stream-key';

export interface RedisEventStoreOptions {
  readonly keyPrefix: string;
  /** How many replicas must confirm an append before it is acknowledged; 0 or more. */
  readonly waitReplicas: number;
  /** Maximum number of events of a page, 1 or more; 512 by default. A page of large events has fewer. */
  readonly pageSize?: number | undefined;
  /** About how many entries the feed of a bucket keeps; as in `REDIS_DEFAULTS` by default. */
  readonly feedLength?: number | undefined;
  /** Queue limit of appends without a reply; `APPEND_BOUNDS` by default. */
  readonly appendBounds?: AppendBounds;
  /** Absent on a Cluster. */
  readonly notify?: Notify | undefined;
}

/** Maximum number of events of a page. */
const PAGE_EVENTS = 512;
/** The same of the first page of a history, which is discarded if the load continues with a snapshot. */
const FIRST_PAGE_EVENTS = 64;
/** Maximum size of a page of more than one event, in bytes. */
const PAGE_BYTES = 512 * 1024;
/** Maximum number of newer events in a conflict; the rest is read page by page. */
const CONFLICT_EVENTS = 16;
/** The range of the first attempt's number, so that all numbers have as many digits. */
const FIRST_ATTEMPTS = [36 ** 4, 2 * 36 ** 4] as const;
/** Every how many appends a feed is trimmed: each time would take Redis 3 % longer. */
const TRIM_EVERY = 16;

/**
 * Stores each stream of events as a Redis stream, with the versions as entry ids.
 * An append and a read are one Lua script each, executed once for many streams. A read starts at the
 * entry of the caller's head: if it is missing, or has another commit, the
 * caller's history was lost.
 */
export class RedisEventStore implements EventStore {
  readonly #pageEvents: number;
  readonly #feedLength: number;
  /** The feed of each bucket, and the number of appends since it was trimmed. */
  readonly #feeds: readonly { readonly key: string; appends: number }[];
  readonly appends: AppendWriter;
  /** Appends so far. It begins at random, because another instance may repeat a commit. */
  #attempts = randomInt(...FIRST_ATTEMPTS);
  readonly #reads: BatchedReads;
  readonly notify: Notify | undefined;

  /** @param reader may be the writer, unless that one waits for replicas. */
  constructor(
    private readonly writer: RedisConnection,
    private readonly reader: RedisConnection,
    private readonly options: RedisEventStoreOptions,
  ) {
    this.#pageEvents = options.pageSize ?? PAGE_EVENTS;
    this.#feedLength = options.feedLength ?? REDIS_DEFAULTS.feedLength;
    this.#feeds = Array.from({ length: BUCKETS }, (_, bucket) => ({
      key: feedKeys(options.keyPrefix, bucket)[0],
      appends: 0,
    }));
    this.notify = options.notify;
    this.#reads = new BatchedReads(reader);
    this.appends = new AppendWriter(writer, {
      waitReplicas: options.waitReplicas,
      bounds: options.appendBounds,
    });
  }

  async read(stream: StreamName, after: Head): Promise<ReadResult> {
    try {
      const keys = eventKeys(this.options.keyPrefix, addressOf(stream));
      const maxEvents = after.version > 0 ? this.#pageEvents : Math.min(FIRST_PAGE_EVENTS, this.#pageEvents);
      const reply = await this.#reads.execute({
        keys,
        args: [after.version, ...pageBounds(after, maxEvents)],
      });
      const [status, packed] = reply as PackedPage | [status: Buffer];
      if (packed !== undefined) return this.#newerEvents(after, reply as PackedPage);
      const doubt = doubtOf(status);
      if (doubt !== undefined) throw this.reader.doubted(doubt);
      if (String(status) === 'unreadable') throw lostBase();
      return { status: 'archived' };
    } catch (error) {
      throw readFault(error);
    }
  }

  async append(
    stream: StreamName,
    expected: Head,
    commit: string,
    events: readonly EncodedEvent[],
  ): Promise<AppendResult> {
    if (events.length === 0 || commit === '')
      throw new RangeError('an append needs a commit id and an event');
    const address = addressOf(stream);
    const feed = this.#feeds[address.bucket]!;
    const keys = [...eventKeys(this.options.keyPrefix, address), feed.key];
    const bounds = pageBounds(expected, Math.min(CONFLICT_EVENTS, this.#pageEvents));
    feed.appends = (feed.appends + 1) % TRIM_EVERY;
    const trimTo = feed.appends === 0 ? this.#feedLength : '';
    const attempt = (++this.#attempts).toString(36);
    const text = commitText({ commit, attempt });
    const args = [expected.version, expected.commit, commit, ...bounds, trimTo, text];
    for (const { type, data } of events) args.push(type, data);
    let reply: AppendReply;
    try {
      reply = await this.appends.execute(keys, args);
    } catch (error) {
      throw appendFault(error);
    }
    const [status, page] = reply;
    if (status === 'appended') return { status, head: { version: expected.version + events.length, commit } };
    if (status === 'replica' || status === 'identity' || status === 'unconfirmed')
      throw this.writer.doubted(status);
    if (status === 'unreadable') throw lostBase();
    if (status !== 'conflict') return { status };
    const newer = this.#newerEvents(expected, page);
    return newer.status === 'read' ? { ...newer, status } : newer;
  }

  /** The events of a page that starts at the entry of `after`. */
  #newerEvents(after: Head, [more, packed]: PackedPage): ReadResult {
    const entries = new PackedEntries(packed);
    if (after.version > 0) {
      const known = entries.next();
      if (known?.id !== `${after.version}-0` || known.recorded?.commit !== after.commit)
        return { status: 'reset' };
    } else if (after.commit !== BEGINNING.commit) return { status: 'reset' };
    const events = entries.rest().map((entry, index) => eventOf(entry, after.version + 1 + index));
    return { status: 'read', events, more: more === 1 };
  }
}

function lostBase(): UnreadableHistory {
  return new UnreadableHistory(
    'the stream does not have the event that its base snapshot was taken after: its events were deleted; ' +
      'restore the history from its archives as in docs/operations.md#archives',
  );
}

/** Arguments of the scripts: maximum number of entries, with that of the head, and their size. */
function pageBounds({ version }: Head, events: number): [entries: number, bytes: number] {
  return [version > 0 ? events + 1 : events, PAGE_BYTES];
}
