/** Long lists: each is sent as a stream of pieces, and never rendered as a whole. */
import type { User } from '../../../application';
import type { SegmentRange } from '../../../domain';
import { type Head, isSameHead } from '../../../event-sourcing';
import { Overloaded } from '../app/problems';
import { RequestScheduler } from '../server/request-scheduler';
import { type KeyedPage, LongList, type LongListOwner } from './long-list';
import type { ResponseMemory } from './response-memory';
import type { SegmentTexts } from './segment-texts';

/** Pieces that one turn of the event loop measures or sends. */
const PIECES_PER_TURN = 1;
/** Different long lists of one user that are being sent. Further ones are refused. */
const MAX_EACH = 32;
/** Bytes of cached texts: of each user only the latest one, and none of more than half of it. */
const MAX_CACHED = 64 * 2 ** 20;

/** The long lists that are being sent, and the texts of the latest ones. Users take turns, piece by piece. */
export class LongLists implements LongListOwner {
  readonly turns = new RequestScheduler(PIECES_PER_TURN);
  /** By key, each at the head of its latest request. */
  readonly #lists = new Map<string, LongList>();
  /** The number of lists that are being sent, by user. */
  readonly #sent = new Map<User, number>();
  /** The list of each user whose pieces are cached. The least recently requested one first. */
  readonly #cached = new Map<User, LongList>();
  #cachedBytes = 0;

  constructor(
    readonly segments: SegmentTexts,
    readonly memory: ResponseMemory,
    private readonly maxCached = MAX_CACHED,
  ) {}

  /** Bytes of cached texts. */
  get bytes(): number {
    return this.#cachedBytes;
  }

  /** The list of this key at this head, if it is being sent or cached. */
  find(key: string, head: Head): LongList | undefined {
    const list = this.#lists.get(key);
    if (list === undefined || !isSameHead(list.page.head, head)) return undefined;
    if (this.#cached.delete(list.user)) this.#cached.set(list.user, list);
    return list;
  }

  /**
   * A list to be {@link LongList.open}ed. Throws {@link Overloaded} if too many of this user are being sent.
   * @param ranges not empty.
   */
  add(user: User, page: KeyedPage, ranges: readonly SegmentRange[]): LongList {
    if ((this.#sent.get(user) ?? 0) >= MAX_EACH) {
      throw new Overloaded('one user requests too many different long lists');
    }
    const list = new LongList(this, user, page, ranges);
    this.#lists.set(page.key, list);
    return list;
  }

  begun({ user }: LongList): void {
    this.#sent.set(user, (this.#sent.get(user) ?? 0) + 1);
  }

  ended(list: LongList): void {
    const { user } = list;
    const others = this.#sent.get(user)! - 1;
    if (others > 0) this.#sent.set(user, others);
    else this.#sent.delete(user);
    if (this.#cached.get(user) !== list) this.#forget(list);
    else if (!list.pieces.isComplete) this.#drop(list);
  }

  /** Caches the pieces of a list, instead of those of an earlier one of its user. */
  measured(list: LongList): void {
    const earlier = this.#cached.get(list.user);
    if (earlier !== undefined) this.#drop(earlier);
    if (list.length! > this.maxCached / 2) return;
    list.pieces.keep(list.length!);
    this.#cached.set(list.user, list);
    this.#cachedBytes += list.length!;
    for (const oldest of this.#cached.values()) {
      if (this.#cachedBytes <= this.maxCached) break;
      this.#drop(oldest);
    }
  }

  /** Drops a list from the cache. */
  #drop(list: LongList): void {
    this.#cached.delete(list.user);
    this.#cachedBytes -= list.length!;
    list.pieces.drop();
    if (!list.isRead) this.#forget(list);
  }

  #forget(list: LongList): void {
    if (this.#lists.get(list.page.key) === list) this.#lists.delete(list.page.key);
  }
}
