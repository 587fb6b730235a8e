import type { ServerResponse } from 'node:http';
import type { User } from '../../../application';
import type { SegmentRange } from '../../../domain';
import type { Head } from '../../../event-sourcing';
import type { RequestScheduler, Startable } from '../server/request-scheduler';
import { whenClosed } from '../server/served-response';
import { ListPieces } from './list-pieces';
import { LongListReader, type SharedList } from './long-list-reader';
import { Measurement } from './measurement';
import type { ResponseMemory } from './response-memory';
import type { SegmentTexts } from './segment-texts';

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

/** All long lists, as seen by one of them. */
export interface LongListOwner {
  readonly turns: RequestScheduler;
  readonly segments: SegmentTexts;
  readonly memory: ResponseMemory;
  /** The first reader has come. */
  begun(list: LongList): void;
  /** The length is known. */
  measured(list: LongList): void;
  /** The last reader has left. */
  ended(list: LongList): void;
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
    private readonly owner: LongListOwner,
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
