/** Long lists: each is sent as a stream of pieces, and never rendered as a whole. */
import type { ServerResponse } from 'node:http';
import type { User } from '../../../application';
import type { SegmentRange } from '../../../domain';
import { type Head, isSameHead } from '../../../event-sourcing';
import { Overloaded } from '../app/problems';
import type { TransferMemory } from '../app/transfer-memory';
import { RequestScheduler, type Startable } from '../server/request-scheduler';
import { whenClosed } from '../server/served-response';
import { ListPieces } from './list-pieces';
import { LongListReader, type SharedList } from './long-list-reader';
import { Measurement } from './measurement';
import type { SegmentTexts } from './segment-texts';

/** Pieces that one turn of the event loop measures or sends. */
const PIECES_PER_TURN = 1;
/** Different long lists of one user that are being sent. Further ones are refused. */
const MAX_EACH = 32;
/** Bytes of cached texts: of each user only the latest one, and none of more than half of it. */
const MAX_CACHED = 64 * 2 ** 20;
/** Memory of a response without its list and its pieces. */
const RESPONSE_BYTES = 16 * 1024;
/** Memory of a range of a list. */
const RANGE_BYTES = 64;

/** The page of a list at one head. */
export interface KeyedPage {
  /** Equal for all requests of one user for the same page. */
  readonly key: string;
  readonly head: Head;
  readonly etag: string;
  /** The canonical query of the next page; absent at the end. */
  readonly next: string | undefined;
}

/** The long lists that are being sent, and the texts of the latest ones. Users take turns, piece by piece. */
export class LongLists {
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
    readonly memory: TransferMemory,
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

  /** The first reader has come. */
  begun({ user }: LongList): void {
    this.#sent.set(user, (this.#sent.get(user) ?? 0) + 1);
  }

  /** The last reader has left. */
  ended(list: LongList): void {
    const { user } = list;
    const others = this.#sent.get(user)! - 1;
    if (others > 0) this.#sent.set(user, others);
    else this.#sent.delete(user);
    if (this.#cached.get(user) !== list) this.#forget(list);
    else if (!list.pieces.isComplete) this.#drop(list);
  }

  /** The length is known. Caches the pieces of the list, instead of those of an earlier one of its user. */
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

/** A long list of one user at one head, shared by its readers. */
export class LongList implements SharedList {
  length: number | undefined;
  readonly pieces: ListPieces;
  readonly #readers = new Set<LongListReader>();
  /** The number of ranges whose segments are held in memory. */
  #held = 0;
  #measuring: Promise<void> | undefined;
  #stopMeasuring: () => void = () => {};

  constructor(
    private readonly owner: LongLists,
    readonly user: User,
    readonly page: KeyedPage,
    private ranges: readonly SegmentRange[],
  ) {
    this.pieces = new ListPieces(ranges, owner.segments);
  }

  get isRead(): boolean {
    return this.#readers.size > 0;
  }

  /** A reader that stays until `response` closes, or the bound of memory is reached. */
  open(response: ServerResponse): LongListReader {
    const { turns, memory } = this.owner;
    const reader = new LongListReader(this, response, turns, memory);
    this.#readers.add(reader);
    if (this.#readers.size === 1) {
      this.owner.begun(this);
      memory.hold(this.user, this, () => RANGE_BYTES * this.ranges.length);
    }
    memory.enter(this.user, reader, RESPONSE_BYTES);
    whenClosed(response, () => reader.close());
    return reader;
  }

  leave(reader: LongListReader): boolean {
    if (!this.#readers.delete(reader)) return false;
    const { owner, user, ranges } = this;
    owner.memory.leave(user, reader);
    if (this.isRead) return true;
    this.#stopMeasuring();
    for (const { segment } of ranges.slice(0, this.#held)) owner.memory.release(user, segment);
    this.#held = 0;
    owner.memory.release(user, this);
    this.pieces.settle();
    // Its readers have the pieces.
    if (this.pieces.isComplete) this.ranges = [];
    owner.ended(this);
    return true;
  }

  measure(): Promise<void> {
    this.#measuring ??= this.#measure();
    return this.#measuring;
  }

  #measure(): Promise<void> {
    const { owner, user } = this;
    const measurement = new Measurement(this.ranges, owner.segments, ({ segment }) => {
      this.#held++;
      owner.memory.hold(user, segment, () => owner.segments.measuresOf(segment).bytes);
    });
    return new Promise((resolve, reject) => {
      const step: Startable = {
        lane: user,
        start: () => {
          try {
            this.length = measurement.advance(() => this.isRead);
            if (!this.isRead) return;
            if (this.length === undefined) return owner.turns.schedule(step);
            owner.measured(this);
            resolve();
          } catch (error) {
            const failure = error as Error;
            reject(failure);
          }
        },
      };
      this.#stopMeasuring = () => {
        owner.turns.cancel(step);
        resolve();
      };
      owner.turns.schedule(step);
    });
  }
}
