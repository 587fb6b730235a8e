/** Long lists: each is sent as a stream of pieces, and never rendered as a whole. */
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { User } from '../../../application';
import type { SegmentRange } from '../../../domain';
import { type Head, isSameHead } from '../../../event-sourcing';
import { whenClosed } from '../server/connection';
import {
  Measurement,
  PIECE_LENGTH,
  type Piece,
  type Place,
  START,
  type SegmentTexts,
  renderPiece,
} from './list-text';
import { Overloaded, malformedHttp } from '../app/problems';
import { RequestScheduler, type Startable } from '../server/request-scheduler';
import type { HeldResponse, ResponseMemory } from './response-memory';

/** Pieces that one turn of the event loop measures or sends. */
const PIECES_PER_TURN = 1;
/** Length in characters of a piece that many readers may share: fewer pieces cost less. */
const SHARED_LENGTH = 16 * PIECE_LENGTH;
/** Bytes of a text that is sent whole once it is cached. */
const MAX_WHOLE = 4 * 2 ** 20;
/** Different long lists of one user that are being sent. Further ones are refused. */
const MAX_EACH = 32;
/** Memory of a response without its list and its pieces. */
const RESPONSE_BYTES = 16 * 1024;
/** Pieces of a response in memory: one in the stream, and one on its way into the socket. */
const MAX_HELD = 2;
/** Memory of a range of a list. */
const RANGE_BYTES = 64;
/** Bytes of cached texts: of each user only the latest one. */
const MAX_CACHED = 64 * 2 ** 20;
const MAX_CACHED_EACH = MAX_CACHED / 2;

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
  /** The latest measurement of each user, until it has ended. */
  readonly #measuring = new Map<User, Promise<void>>();
  /** The number of lists that are being sent, by user. */
  readonly #sent = new Map<User, number>();
  /** The list of each user whose pieces are cached. The least recently requested one first. */
  readonly #cached = new Map<User, LongList>();
  #cachedBytes = 0;

  constructor(
    readonly segments: SegmentTexts,
    readonly memory: ResponseMemory,
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

  /** Does the work of one user one after the other: what one list has measured, the next one need not. */
  inTurn(user: User, work: () => Promise<void>): Promise<void> {
    const earlier = this.#measuring.get(user);
    const done = earlier === undefined ? work() : earlier.then(work, work);
    this.#measuring.set(user, done);
    const forget = () => {
      if (this.#measuring.get(user) === done) this.#measuring.delete(user);
    };
    done.then(forget, forget);
    return done;
  }

  /** Called by a list when its first reader has come. */
  begun({ user }: LongList): void {
    this.#sent.set(user, (this.#sent.get(user) ?? 0) + 1);
  }

  /** Called by a list when its last reader has left. */
  ended(list: LongList): void {
    const { user } = list;
    const others = this.#sent.get(user)! - 1;
    if (others > 0) this.#sent.set(user, others);
    else this.#sent.delete(user);
    if (this.#cached.get(user) !== list) this.#forget(list);
    else if (!list.isComplete) this.#drop(list);
  }

  /** Called by a list whose length is known. Caches its pieces, instead of those of an earlier list of its user. */
  cache(list: LongList): void {
    const earlier = this.#cached.get(list.user);
    if (earlier !== undefined) this.#drop(earlier);
    if (list.length! > MAX_CACHED_EACH) return;
    list.keepPieces();
    this.#cached.set(list.user, list);
    this.#cachedBytes += list.length!;
    for (const oldest of this.#cached.values()) {
      if (this.#cachedBytes <= MAX_CACHED) break;
      this.#drop(oldest);
    }
  }

  /** Drops a list from the cache. */
  #drop(list: LongList): void {
    this.#cached.delete(list.user);
    this.#cachedBytes -= list.length!;
    list.dropPieces();
    if (!list.isRead) this.#forget(list);
  }

  #forget(list: LongList): void {
    if (this.#lists.get(list.page.key) === list) this.#lists.delete(list.page.key);
  }
}

/** A long list of one user at one head, shared by its readers. */
export class LongList {
  /** Bytes of its text, once they are known. */
  length: number | undefined;
  /** Its first pieces, or all, if it is cached. */
  #pieces: Piece[] | undefined;
  readonly #readers = new Set<LongListReader>();
  /** The number of ranges whose segments are held in memory. */
  #held = 0;
  #measuring: Promise<void> | undefined;
  #stopMeasuring: () => void = () => {};

  constructor(
    private readonly lists: LongLists,
    readonly user: User,
    readonly page: KeyedPage,
    /** Empty if all pieces are cached. */
    private ranges: readonly SegmentRange[],
  ) {}

  get isRead(): boolean {
    return this.#readers.size > 0;
  }

  /** Whether all its pieces are cached. */
  get isComplete(): boolean {
    const last = this.#pieces?.at(-1);
    return last !== undefined && last.next === undefined;
  }

  /** A reader that stays until `response` closes, or the bound of memory is reached. */
  open(response: ServerResponse): LongListReader {
    const { memory } = this.lists;
    const reader = new LongListReader(this, response, this.lists.turns, memory);
    this.#readers.add(reader);
    if (this.#readers.size === 1) {
      this.lists.begun(this);
      memory.hold(this.user, this, () => RANGE_BYTES * this.ranges.length);
    }
    memory.enter(this.user, reader, RESPONSE_BYTES);
    whenClosed(response, () => reader.close());
    return reader;
  }

  /** False, without effect, if the reader has left before. */
  leave(reader: LongListReader): boolean {
    if (!this.#readers.delete(reader)) return false;
    const { lists, user, ranges } = this;
    lists.memory.leave(user, reader);
    if (this.isRead) return true;
    this.#stopMeasuring();
    for (const { segment } of ranges.slice(0, this.#held)) lists.memory.release(user, segment);
    this.#held = 0;
    lists.memory.release(user, this);
    if (this.isComplete) {
      this.ranges = [];
      this.#joinPieces();
    }
    lists.ended(this);
    return true;
  }

  /** Resolves when the length is known, or all readers have left. */
  measure(): Promise<void> {
    this.#measuring ??= this.lists.inTurn(this.user, () => this.#measure());
    return this.#measuring;
  }

  #measure(): Promise<void> {
    const { lists, user } = this;
    const measurement = new Measurement(this.ranges, lists.segments, ({ segment }) => {
      this.#held++;
      lists.memory.hold(user, segment, () => lists.segments.bytesOf(segment));
    });
    return new Promise((resolve, reject) => {
      const step: Startable = {
        lane: user,
        start: () => {
          try {
            this.length = measurement.advance(() => this.isRead);
            if (!this.isRead) return;
            if (this.length !== undefined) lists.cache(this);
          } catch (error) {
            const failure = error as Error;
            reject(failure);
            return;
          }
          if (this.length === undefined) lists.turns.schedule(step);
          else resolve();
        },
      };
      this.#stopMeasuring = () => {
        lists.turns.cancel(step);
        resolve();
      };
      if (this.isRead) lists.turns.schedule(step);
      else resolve();
    });
  }

  /** The piece with this number, which begins at `place`. */
  piece(number: number, place: Place): Piece {
    const cached = this.#pieces?.[number];
    if (cached !== undefined) return cached;
    const length = this.#pieces === undefined ? PIECE_LENGTH : SHARED_LENGTH;
    const piece = renderPiece(this.ranges, place, this.lists.segments, length);
    if (this.#pieces?.length === number) this.#pieces.push(piece);
    return piece;
  }

  /** Its whole text, if that is one cached piece. */
  get whole(): Buffer | undefined {
    const first = this.#pieces?.[0];
    return first?.next === undefined ? first?.text : undefined;
  }

  /** Caches its pieces: at once if it is one, otherwise each when it is sent. */
  keepPieces(): void {
    this.#pieces = [];
    if (this.length! <= SHARED_LENGTH) this.piece(0, START);
  }

  /** For its next readers: a stream costs each of them 0.2 ms. */
  #joinPieces(): void {
    if (this.#pieces!.length > 1 && this.length! <= MAX_WHOLE)
      this.#pieces = [{ text: Buffer.concat(this.#pieces!.map(({ text }) => text)), next: undefined }];
  }

  /** Has no effect on a list that has only its pieces: its readers need them. */
  dropPieces(): void {
    if (this.ranges.length > 0) this.#pieces = undefined;
  }
}

/** A response with a long list. */
export class LongListReader implements HeldResponse {
  #begun = false;
  /** The number and the place of the next piece of the stream. */
  #number = 0;
  #place: Place | undefined = START;
  /** Pieces that it holds in memory, the oldest first. */
  readonly #held: Buffer[] = [];
  /** Why it has left. */
  #reason: (() => Error) | undefined;
  /** While it waits for the length. */
  #reject: ((reason: Error) => void) | undefined;

  constructor(
    private readonly list: LongList,
    private readonly response: ServerResponse,
    private readonly turns: RequestScheduler,
    private readonly memory: ResponseMemory,
  ) {}

  /**
   * Resolves with the length of the body in bytes. Rejects with {@link Overloaded} if it is not known after `timeoutMs`,
   * or the bound of memory is reached.
   */
  async length(timeoutMs: number): Promise<number> {
    const { list } = this;
    if (this.#reason) throw this.#reason();
    if (list.length === undefined) {
      let timer: NodeJS.Timeout;
      await new Promise<void>((resolve, reject) => {
        this.#reject = reject;
        timer = setTimeout(() => reject(new Overloaded('the list was not measured in time')), timeoutMs);
        list.measure().then(resolve, reject);
      }).finally(() => {
        clearTimeout(timer);
        this.#reject = undefined;
      });
    }
    return list.length!;
  }

  /** The body: one piece, or a stream of several. Throws if the reader has left. */
  body(): Buffer | Readable {
    if (this.#reason) throw this.#reason();
    this.#begun = true;
    const { whole, user } = this.list;
    if (whole === undefined) return new ListStream(user, this.turns, this);
    this.#hold(whole);
    return whole;
  }

  /** The next piece of the stream; null after the last one. */
  next(): Buffer | null {
    if (this.#place === undefined) return null;
    const { text, next } = this.list.piece(this.#number++, this.#place);
    this.#place = next;
    this.#hold(text);
    return text;
  }

  close(): void {
    // Reaches no client.
    this.#leave(() => malformedHttp('the connection was closed before its answer'));
  }

  abandon(): void {
    this.#leave(() => new Overloaded('too much memory is taken by responses'));
    if (this.#begun) this.response.destroy();
  }

  #leave(reason: () => Error): void {
    if (!this.list.leave(this)) return;
    this.#held.splice(0).forEach((piece) => this.#release(piece));
    this.#reason = reason;
    this.#reject?.(reason());
  }

  /** Counts a piece until it has left the socket. The response may be abandoned at once. */
  #hold(piece: Buffer): void {
    this.#held.push(piece);
    this.memory.hold(this.list.user, piece, () => piece.length);
    if (this.#held.length > MAX_HELD) this.#release(this.#held.shift()!);
  }

  #release(piece: Buffer): void {
    this.memory.release(this.list.user, piece);
  }
}

/** Pushes a piece when its user has the turn. It reads none ahead. */
class ListStream extends Readable implements Startable {
  constructor(
    readonly lane: User,
    private readonly turns: RequestScheduler,
    private readonly reader: LongListReader,
  ) {
    super({ highWaterMark: 0 });
  }

  override _read(): void {
    this.turns.schedule(this);
  }

  /** Called by the scheduler. */
  start(): void {
    try {
      this.push(this.reader.next());
    } catch (error) {
      this.destroy(error as Error);
    }
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.turns.cancel(this);
    done(error);
  }
}
