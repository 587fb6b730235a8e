import {
  type Feed,
  type FeedEntry,
  type FeedPosition,
  type FeedReadResult,
  type FeedTrail,
  type StreamName,
  StoreUnavailable,
} from '../../event-sourcing';
import type { ChangeNotifier } from './change-notifier';
import type { RedisConnection } from './connection';
import { reading } from './faults';
import { FEED_END, READ_FEED } from './feed-scripts';
import type { Script } from './script';
import { BUCKETS, addressOf, decoded, feedKeys } from './stream-key';

/** Default maximum number of entries of a page. */
const PAGE_ENTRIES = 512;

type RawEntry = readonly [id: Buffer, fields: readonly Buffer[]];

/**
 * Reads the feed of each bucket: a Redis stream to which the append script adds `0-<sequence number>` for each commit.
 *
 * A read starts at the entry of the caller's position: if it has another commit or attempt, or if the feed ends before it,
 * the end of the feed that the caller read was lost. Positions whose entry was erased are kept in a hash beside the feed.
 */
export class RedisFeed implements Feed {
  readonly buckets = BUCKETS;
  readonly notify: Feed['notify'];

  /** @param connection does not wait for replicas. */
  constructor(
    private readonly connection: RedisConnection,
    private readonly options: {
      readonly keyPrefix: string;
      /** Absent on a Cluster. */
      readonly notifier?: ChangeNotifier | undefined;
    },
  ) {
    const { notifier } = options;
    this.notify = notifier && ((...args) => notifier.notifyOfFeed(...args));
  }

  bucketOf(stream: StreamName): number {
    return addressOf(stream).bucket;
  }

  async read(
    bucket: number,
    [after, ...older]: FeedTrail,
    limit: number = PAGE_ENTRIES,
  ): Promise<FeedReadResult> {
    const result = await this.#read(bucket, after, limit);
    if (result.status !== 'reset') return result;
    for (const position of older)
      if ((await this.#read(bucket, position, 1)).status === 'read') return { ...result, shared: position };
    return result;
  }

  async end(bucket: number): Promise<FeedPosition> {
    const [sequence, commit] = (await this.#execute(FEED_END, bucket, [])) as [Buffer, Buffer];
    return { sequence: Number(sequence), ...commitOf(commit) };
  }

  async #read(bucket: number, position: FeedPosition, limit: number): Promise<FeedReadResult> {
    const reply = await this.#execute(READ_FEED, bucket, [position.sequence, commitText(position), limit]);
    const [result, entries] = reply as [Buffer] | [more: number, readonly RawEntry[]];
    if (entries !== undefined)
      return { status: 'read', entries: entries.map((entry) => entryOf(entry)), more: Number(result) === 1 };
    return String(result) === 'trimmed' ? { status: 'trimmed' } : { status: 'reset', shared: undefined };
  }

  #execute(script: Script, bucket: number, args: readonly (string | number)[]): Promise<readonly unknown[]> {
    return reading(() => this.connection.execute(script, feedKeys(this.options.keyPrefix, bucket), args));
  }
}

function entryOf([id, [, name, , version, , commit]]: RawEntry): FeedEntry {
  const [, sequence] = /^0-(\d+)$/.exec(String(id)) ?? [];
  const stream = decoded(String(name));
  if (sequence === undefined || stream === undefined || commit === undefined)
    throw new StoreUnavailable(`entry ${String(id)} of a feed is not one of this service`);
  return { sequence: Number(sequence), ...commitOf(commit), stream, version: Number(version) };
}

/** What an entry has of a commit: its id, and a text that no other execution of its append has. */
export function commitText({ commit, attempt }: Pick<FeedPosition, 'commit' | 'attempt'>): string {
  return attempt === undefined ? commit : `${commit}.${attempt}`;
}

function commitOf(text: Buffer): Pick<FeedPosition, 'commit' | 'attempt'> {
  const [, commit, attempt] = /^(.*)\.(.*)$/s.exec(String(text)) ?? [];
  return attempt === undefined ? { commit: String(text) } : { commit: commit!, attempt };
}
