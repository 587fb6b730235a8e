import type { PlantEvent } from './events';
import type { Plant } from './plant';
import type { PlantId } from './plant-id';
import { plantBytes } from './plant-size';
import { type Key, PositionIndex, keyOf } from './position-index';
import { Segment, type Stretch } from './segment';

/** A stretch of the list, in order of creation, as it was at one moment: what happens later does not show in it. */
export class Page {
  constructor(
    /** The same plants in the pieces that the list keeps them in. */
    readonly stretches: readonly Stretch[],
    /** Where the next page starts (a `page` call's `after`); `undefined` where this one reached the end. */
    readonly next: number | undefined,
  ) {}

  get plants(): Plant[] {
    return this.stretches.flatMap(({ segment, from, to }) => segment.plants.slice(from, to));
  }
}

/** A history that the rules could not have produced. A fault, never a client's doing. */
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
 * Every event has a position, 1, 2, 3 …; a plant's position is that of the
 * event which created it. Positions only grow, so they also serve as cursors: a
 * walk through all pages meets each plant that lives all the while exactly once,
 * also if others are created or deleted meanwhile.
 *
 * The plants are kept in segments of up to {@link Segment.CAPACITY}. Two neighbours
 * that fit into one segment are merged. So a page is a few whole segments, an
 * event changes one or two of them, and a long list is never rebuilt as a whole.
 *
 * Costs, n living plants: `has` O(1); `evolve` O(log n), and where that leaves a
 * segment less up to n / 32 numbers are moved by one place; a page of k plants
 * O(k / capacity + log n), wherever it starts, also after deletions.
 */
export class PlantList {
  readonly #positions = new PositionIndex();
  /** The positions at which segments began, ascending: what is searched. The plant from there may be gone. */
  readonly #starts: number[] = [];
  /** By these, none of them empty. (In a long array of their own, dropping one would cost some 20 times as much.) */
  readonly #segments = new Map<number, Segment>();
  #version = 0;
  #bytes = 0;

  /** The history's plants. Throws {@link ImpossibleHistory}. */
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
    return this.#positions.size;
  }

  /** About how much memory the living plants take, in bytes: see {@link plantBytes}. */
  get bytes(): number {
    return this.#bytes;
  }

  has(id: PlantId): boolean {
    return this.#positions.get(keyOf(id)) !== undefined;
  }

  /** Takes the next event in. Throws {@link ImpossibleHistory}, and is then as it was before. */
  evolve(event: PlantEvent): void {
    const key = keyOf(event.id);
    const position = this.#positions.get(key);
    switch (event.type) {
      case 'PlantCreated':
        if (position !== undefined) throw this.#impossible('creates an id that is taken');
        this.#version++;
        this.#positions.add(key, this.#version);
        this.#bytes += plantBytes(event.id, event);
        // A plant of its own, so that neither id nor event can slip out with it.
        this.#add(event.tag === undefined ? { name: event.name } : { name: event.name, tag: event.tag }, key);
        return;
      case 'PlantDeleted':
        if (position === undefined) throw this.#impossible('deletes an id that is free');
        this.#version++;
        this.#positions.remove(key);
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
    const stretches: Stretch[] = [];
    let index = Math.max(0, this.#indexOf(after));
    let from = this.#at(index)?.countUpTo(after) ?? 0;
    let last = after;
    for (let left = limit; index < this.#starts.length; index++) {
      const segment = this.#at(index)!;
      const to = Math.min(segment.size, from + left);
      if (to > from) {
        stretches.push(segment.stretch(from, to));
        last = segment.positions[to - 1]!;
        left -= to - from;
      }
      if (to < segment.size) return new Page(stretches, last);
      from = 0;
    }
    return new Page(stretches, undefined);
  }

  /** The plants that live at this moment, in order of creation. Later events do not show in them. */
  living(): Iterable<LivingPlant> {
    return plantsOf(this.#starts.map((start) => this.#segments.get(start)!.shown()));
  }

  /**
   * Passes over events, up to `version`, that no living plant is left of. With the creations of the {@link living}
   * plants, each at its position, it projects a list without the events between. Throws {@link ImpossibleHistory}.
   */
  skipTo(version: number): void {
    if (!(version >= this.#version)) throw this.#impossible(`is followed by event ${version + 1}`);
    this.#version = version;
  }

  #add(plant: Plant, key: Key): void {
    const last = this.#starts.length - 1;
    const open = this.#at(last);
    if (open !== undefined && open.size < Segment.CAPACITY) {
      this.#set(last, open.with(plant, key, this.#version));
    } else {
      this.#starts.push(this.#version);
      this.#set(last + 1, Segment.of(plant, key, this.#version));
    }
  }

  #remove(position: number): Plant {
    const index = this.#indexOf(position);
    const segment = this.#at(index)!;
    const slot = segment.slotOf(position);
    const removed = segment.plants[slot]!;
    const left = segment.without(slot);
    const [before, behind] = [this.#at(index - 1), this.#at(index + 1)];
    if (left.size === 0) this.#drop(index);
    else if (before?.hasRoomFor(left)) {
      this.#set(index - 1, before.and(left));
      this.#drop(index);
    } else if (behind?.hasRoomFor(left)) {
      this.#set(index, left.and(behind));
      this.#drop(index + 1);
    } else this.#set(index, left);
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

  /** Binary search: the last segment that begins at or before `position`; -1 where none does. */
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

function* plantsOf(segments: readonly Segment[]): Generator<LivingPlant> {
  for (const { plants, keys, positions } of segments)
    for (let slot = 0; slot < plants.length; slot++)
      yield { position: positions[slot]!, id: String(keys[slot]!) as PlantId, plant: plants[slot]! };
}
