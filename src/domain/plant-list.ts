import type { PlantEvent } from './events';
import { type Plant, plantBytes } from './plant';
import { type PlantId, type PlantKey, keyOf } from './plant-id';
import { Segment, type SegmentRange } from './segment';

/** Consecutive plants of the list, in order of creation. Later events do not change it. */
export class Page {
  constructor(
    /** The same plants, as ranges of the list's segments. */
    readonly ranges: readonly SegmentRange[],
    /** The `after` of the next page; `undefined` at the end of the list. */
    readonly next: number | undefined,
  ) {}

  get plants(): Plant[] {
    return this.ranges.flatMap(({ segment, from, to }) => segment.plants.slice(from, to));
  }

  /** The same plants with their ids. */
  *living(): Iterable<LivingPlant> {
    for (const { segment, from, to } of this.ranges)
      for (let slot = from; slot < to; slot++)
        yield {
          position: segment.positions[slot]!,
          id: String(segment.keys[slot]!) as PlantId,
          plant: segment.plants[slot]!,
        };
  }
}

/** A history that the rules cannot have produced. A fault, never caused by a client. */
export class ImpossibleHistory extends Error {
  override readonly name = 'ImpossibleHistory';
}

/** A living plant with its id, and the position of the event that created it. */
export interface LivingPlant {
  readonly position: number;
  readonly id: PlantId;
  readonly plant: Plant;
}

/**
 * One user's living plants, projected from that user's events.
 *
 * Every event has a position, 1, 2, 3 …; the position of a plant is that of the
 * event that created it. Positions only grow, so they also serve as cursors: paging
 * through the list returns each plant that lives all the while exactly once, even
 * if other plants are created or deleted meanwhile.
 *
 * The plants are stored in segments of up to {@link Segment.CAPACITY}. Two adjacent
 * segments that fit into one are merged. So a page is a few whole segments, an
 * event changes one or two of them, and a long list is never rebuilt as a whole.
 *
 * Costs with n living plants: `has` O(1); `evolve` O(log n), and if it removes a
 * segment, up to n / 32 numbers move by one place; a page of k plants
 * O(k / capacity + log n), wherever it starts, also after deletions.
 */
export class PlantList {
  readonly #positionOf = new Map<PlantKey, number>();
  /** The first positions of the segments, ascending, for the binary search. The plant created there may be deleted. */
  readonly #starts: number[] = [];
  /** The segments by first position; none is empty. A Map, because removing from the middle of a long array of objects is slow. */
  readonly #segments = new Map<number, Segment>();
  #version = 0;
  #bytes = 0;

  /** The living plants after `history`. Throws {@link ImpossibleHistory}. */
  static from(history: Iterable<PlantEvent>): PlantList {
    const list = new PlantList();
    for (const event of history) list.evolve(event);
    return list;
  }

  /** How many events this list was projected from. */
  get version(): number {
    return this.#version;
  }

  /** How many plants are alive. */
  get size(): number {
    return this.#positionOf.size;
  }

  /** About how much memory the living plants take, in bytes: see {@link plantBytes}. */
  get bytes(): number {
    return this.#bytes;
  }

  has(id: PlantId): boolean {
    return this.#positionOf.has(keyOf(id));
  }

  /** Applies the next event. Throws {@link ImpossibleHistory}, and then has not changed. */
  evolve(event: PlantEvent): void {
    const key = keyOf(event.id);
    const position = this.#positionOf.get(key);
    switch (event.type) {
      case 'PlantCreated':
        if (position !== undefined) throw this.#impossible('creates an id that is taken');
        this.#version++;
        this.#positionOf.set(key, this.#version);
        this.#bytes += plantBytes(event.id, event.plant);
        this.#add(event.plant, key);
        return;
      case 'PlantDeleted':
        if (position === undefined) throw this.#impossible('deletes an id that is free');
        this.#version++;
        this.#positionOf.delete(key);
        this.#bytes -= plantBytes(event.id, this.#remove(position));
        return;
      default:
        event satisfies never;
        throw this.#impossible('is of an unknown type');
    }
  }

  /**
   * Up to `limit` plants (0 … Infinity) created after the position `after`
   * (0 is the beginning), in order of creation.
   */
  page(limit = Infinity, after = 0): Page {
    const ranges: SegmentRange[] = [];
    let index = Math.max(0, this.#indexOf(after));
    let from = this.#at(index)?.countUpTo(after) ?? 0;
    let last = after;
    for (let left = limit; index < this.#starts.length; index++) {
      const segment = this.#at(index)!;
      const to = Math.min(segment.size, from + left);
      if (to > from) {
        ranges.push(segment.range(from, to));
        last = segment.positions[to - 1]!;
        left -= to - from;
      }
      if (to < segment.size) return new Page(ranges, last);
      from = 0;
    }
    return new Page(ranges, undefined);
  }

  /** The plants that live at this moment, in order of creation. Later events do not show in them. */
  living(): Iterable<LivingPlant> {
    return this.page().living();
  }

  /**
   * Sets the version to `version` without applying the events between: none of their plants still lives. So a list can
   * be restored from the creations of its {@link living} plants alone, each at its position. Throws
   * {@link ImpossibleHistory} if the list has a later version.
   */
  skipTo(version: number): void {
    if (!(version >= this.#version)) throw this.#impossible(`is followed by event ${version + 1}`);
    this.#version = version;
  }

  #add(plant: Plant, key: PlantKey): void {
    const last = this.#starts.length - 1;
    const open = this.#at(last);
    if (open !== undefined && open.size < Segment.CAPACITY) {
      const changed = open.with(plant, key, this.#version);
      if (changed !== open) this.#set(last, changed);
    } else {
      this.#starts.push(this.#version);
      this.#set(last + 1, new Segment([plant], [key], [this.#version]));
    }
  }

  #remove(position: number): Plant {
    const index = this.#indexOf(position);
    const segment = this.#at(index)!;
    const slot = segment.slotOf(position);
    const removed = segment.plants[slot]!;
    const remaining = segment.without(slot);
    const [before, after] = [this.#at(index - 1), this.#at(index + 1)];
    if (remaining.size === 0) this.#drop(index);
    else if (before?.hasRoomFor(remaining)) {
      this.#set(index - 1, before.concat(remaining));
      this.#drop(index);
    } else if (after?.hasRoomFor(remaining)) {
      this.#set(index, remaining.concat(after));
      this.#drop(index + 1);
    } else this.#set(index, remaining);
    return removed;
  }

  #at(index: number): Segment | undefined {
    return this.#segments.get(this.#starts[index]!);
  }

  #set(index: number, segment: Segment): void {
    this.#segments.set(this.#starts[index]!, segment);
  }

  #drop(index: number): void {
    this.#segments.delete(this.#starts[index]!);
    this.#starts.splice(index, 1);
  }

  /** Binary search: the last segment that begins at or before `position`; -1 if there is none. */
  #indexOf(position: number): number {
    let low = 0;
    let high = this.#starts.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#starts[middle]! <= position) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  #impossible(what: string): ImpossibleHistory {
    return new ImpossibleHistory(`event ${this.#version + 1} of the history ${what}`);
  }
}
