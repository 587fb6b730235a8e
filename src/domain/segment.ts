import type { Plant } from './plant';

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
 * Consecutive plants, with the positions of their creation. Until a segment is
 * returned for the first time it is changed in place, which makes the replay of a
 * long history cheap. After that a change makes a new segment.
 */
export class Segment implements SegmentView {
  /** Small enough to be copied at every write, large enough that a page is made of few. */
  static readonly CAPACITY = 64;
  #shown = false;

  constructor(
    readonly plants: Plant[],
    /** Ascending; beside `plants`. */
    readonly positions: number[],
  ) {}

  get size(): number {
    return this.plants.length;
  }

  stretch(from: number, to: number): Stretch {
    this.#shown = true;
    return { segment: this, from, to };
  }

  /** How many of its plants were created at or before `position`. */
  countUpTo(position: number): number {
    const count = this.positions.findIndex((later) => later > position);
    return count === -1 ? this.size : count;
  }

  hasRoomFor(neighbour: Segment): boolean {
    return this.size + neighbour.size <= Segment.CAPACITY;
  }

  with(plant: Plant, position: number): Segment {
    const changed = this.#changeable();
    changed.plants.push(plant);
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
    changed.positions.splice(slot, 1);
    return changed;
  }

  and(next: Segment): Segment {
    return new Segment([...this.plants, ...next.plants], [...this.positions, ...next.positions]);
  }

  #changeable(): Segment {
    return this.#shown ? new Segment(this.plants.slice(), this.positions.slice()) : this;
  }
}
