import type { PlantEvent } from './events';
import type { Plant } from './plant';
import type { PlantId } from './plant-id';

/** A stretch of the list, in order of creation. */
export interface Page {
  readonly plants: readonly Plant[];
  /** Where the next page starts (a `page` call's `after`); `undefined` where this one reached the end. */
  readonly next: number | undefined;
}

/** A history that the rules could not have produced. A fault, never a client's doing. */
export class ImpossibleHistory extends Error {
  override readonly name = 'ImpossibleHistory';
}

/**
 * One user's living plants, projected from that user's events.
 *
 * Every event has a position, 1, 2, 3 …; a plant's position is that of the
 * event which created it. Positions only grow, so they are also the cursor of
 * a walk: whatever is created or deleted meanwhile, a plant that lived through
 * the whole walk is met exactly once.
 *
 * Costs, n living plants: `has` O(1), `evolve` O(log n) amortized, a page of k
 * plants O(k + log n) amortized, wherever it starts and whatever was deleted.
 */
export class PlantList {
  readonly #positionOf = new Map<PlantId, number>();
  /** Ascending; `#slots` runs beside it. */
  #positions: number[] = [];
  /**
   * The plant created at that position, or, once it is deleted, the index of a
   * later slot: nothing between the two is alive. Each search shortens the
   * chains that it follows (path compression, as in union-find).
   */
  #slots: (Plant | number)[] = [];
  #version = 0;

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
    return this.#positionOf.size;
  }

  has(id: PlantId): boolean {
    return this.#positionOf.has(id);
  }

  /** Takes the next event in. Throws {@link ImpossibleHistory}, and is then as it was before. */
  evolve(event: PlantEvent): void {
    const position = this.#positionOf.get(event.id);
    switch (event.type) {
      case 'PlantCreated':
        if (position !== undefined) throw this.#impossible('creates an id that is taken');
        this.#version++;
        this.#positionOf.set(event.id, this.#version);
        this.#positions.push(this.#version);
        // A plant of its own, so that neither id nor event can slip out with it.
        this.#slots.push(
          event.tag === undefined ? { name: event.name } : { name: event.name, tag: event.tag },
        );
        return;
      case 'PlantDeleted': {
        if (position === undefined) throw this.#impossible('deletes an id that is free');
        this.#version++;
        this.#positionOf.delete(event.id);
        const slot = this.#firstSlotAfter(position - 1);
        this.#slots[slot] = slot + 1;
        if (this.#slots.length > 2 * this.size + 32) this.#compact();
        return;
      }
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
    const plants: Plant[] = [];
    let slot = this.#firstLiving(this.#firstSlotAfter(after));
    let last = after;
    while (slot < this.#slots.length && plants.length < limit) {
      plants.push(this.#slots[slot] as Plant);
      last = this.#positions[slot]!;
      slot = this.#firstLiving(slot + 1);
    }
    return { plants, next: slot < this.#slots.length ? last : undefined };
  }

  /** Binary search: the first slot whose position is behind `position`. */
  #firstSlotAfter(position: number): number {
    let low = 0;
    let high = this.#positions.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#positions[middle]! <= position) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #firstLiving(slot: number): number {
    let living = slot;
    for (let next = this.#slots[living]; typeof next === 'number'; next = this.#slots[living]) living = next;
    for (let next = this.#slots[slot]; typeof next === 'number'; next = this.#slots[slot]) {
      this.#slots[slot] = living;
      slot = next;
    }
    return living;
  }

  #compact(): void {
    const living = (_: unknown, slot: number) => typeof this.#slots[slot] !== 'number';
    this.#positions = this.#positions.filter(living);
    this.#slots = this.#slots.filter(living);
  }

  #impossible(what: string): ImpossibleHistory {
    return new ImpossibleHistory(`event ${this.#version + 1} of the history ${what}`);
  }
}
