import type { Plant } from './plant';
import type { Key } from './position-index';

/** The plants number `from` to `to` - 1 of a segment; at least one. */
export interface Stretch {
  readonly segment: SegmentView;
  readonly from: number;
  readonly to: number;
}

/**
 * A segment that the list has returned. It never changes from then on, so a value
 * derived from it may be cached for as long as the segment lives (in a WeakMap, say).
 */
export interface SegmentView {
  readonly plants: readonly Plant[];
}

/**
 * Consecutive plants, with their keys and the positions of their creation. Until a
 * segment is returned for the first time it is changed in place, which makes the
 * replay of a long history cheap. After that a change makes a new segment.
 */
export class Segment implements SegmentView {
  /** Small enough to be copied at every write, large enough that a page is made of few. */
  static readonly CAPACITY = 64;
  #shown = false;

  constructor(
    readonly plants: Plant[],
    /** Beside `plants`. */
    readonly keys: Key[],
    /** Ascending; beside `plants`. */
    readonly positions: number[],
  ) {}

  static of(plant: Plant, key: Key, position: number): Segment {
    return new Segment([plant], [key], [position]);
  }

  get size(): number {
    return this.plants.length;
  }

  stretch(from: number, to: number): Stretch {
    return { segment: this.shown(), from, to };
  }

  /** This segment, which never changes from now on. */
  shown(): this {
    this.#shown = true;
    return this;
  }

  /** How many of its plants were created at or before `position`. */
  countUpTo(position: number): number {
    const count = this.positions.findIndex((later) => later > position);
    return count === -1 ? this.size : count;
  }

  hasRoomFor(neighbour: Segment): boolean {
    return this.size + neighbour.size <= Segment.CAPACITY;
  }

  with(plant: Plant, key: Key, position: number): Segment {
    const changed = this.#changeable();
    changed.plants.push(plant);
    changed.keys.push(key);
    changed.positions.push(position);
    return changed;
  }

  /** Where the plant created at `position` stands. */
  slotOf(position: number): number {
    return this.positions.indexOf(position);
  }

  without(slot: number): Segment {
    const changed = this.#changeable();
    changed.plants.splice(slot, 1);
    changed.keys.splice(slot, 1);
    changed.positions.splice(slot, 1);
    return changed;
  }

  and(next: Segment): Segment {
    return new Segment(
      [...this.plants, ...next.plants],
      [...this.keys, ...next.keys],
      [...this.positions, ...next.positions],
    );
  }

  #changeable(): Segment {
    if (!this.#shown) return this;
    return new Segment(this.plants.slice(), this.keys.slice(), this.positions.slice());
  }
}
