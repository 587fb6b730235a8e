import type { Plant } from './plant';
import type { PlantKey } from './plant-id';

/** The plants `from` to `to` - 1 of a segment; at least one. */
export interface SegmentRange {
  readonly segment: SegmentView;
  readonly from: number;
  readonly to: number;
}

/**
 * A segment that the list has returned. It never changes again, so a value derived
 * from it may be cached for as long as the segment lives (for example in a WeakMap).
 */
export interface SegmentView {
  readonly plants: readonly Plant[];
  /** The key of `plants[i]` is `keys[i]`. */
  readonly keys: readonly PlantKey[];
  /** Ascending; the position of `plants[i]` is `positions[i]`. */
  readonly positions: readonly number[];
}

/**
 * Consecutive plants, with their keys and the positions of their creation. A segment
 * changes in place until it is returned for the first time, which keeps the replay of
 * a long history cheap. After that it is shared, and a change makes a new segment.
 */
export class Segment implements SegmentView {
  /** In plants: small enough to copy at every write, large enough that a page has few segments. */
  static readonly CAPACITY = 64;
  #shared = false;

  constructor(
    readonly plants: Plant[],
    readonly keys: PlantKey[],
    readonly positions: number[],
  ) {}

  get size(): number {
    return this.plants.length;
  }

  /** Some of its plants. The segment does not change from now on. */
  range(from: number, to: number): SegmentRange {
    this.#shared = true;
    return { segment: this, from, to };
  }

  /** The number of its plants created at or before `position`. */
  countUpTo(position: number): number {
    const count = this.positions.findIndex((later) => later > position);
    return count === -1 ? this.size : count;
  }

  hasRoomFor(neighbour: Segment): boolean {
    return this.size + neighbour.size <= Segment.CAPACITY;
  }

  with(plant: Plant, key: PlantKey, position: number): Segment {
    const changed = this.#changeable();
    changed.plants.push(plant);
    changed.keys.push(key);
    changed.positions.push(position);
    return changed;
  }

  /** The index of the plant created at `position`. */
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

  concat(next: Segment): Segment {
    return new Segment(
      [...this.plants, ...next.plants],
      [...this.keys, ...next.keys],
      [...this.positions, ...next.positions],
    );
  }

  #changeable(): Segment {
    if (!this.#shared) return this;
    return new Segment(this.plants.slice(), this.keys.slice(), this.positions.slice());
  }
}
