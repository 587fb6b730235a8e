import type { PlantId } from './plant-id';
import { SHORT_ID } from './plant-size';

/** What a plant is found by: its id, or, where that is short, the number that it spells. */
export type Key = PlantId | number;

/** No two ids have the same: they are canonical. */
export function keyOf(id: PlantId): Key {
  return id.length <= SHORT_ID ? Number(id) : id;
}

/** Average number of keys of a part. */
const PART_SIZE = 4096;

/**
 * Positions by key. A growing Map is rehashed as a whole, which takes tens of
 * milliseconds for a million keys. So the keys are divided among small maps by
 * linear hashing: the index grows by one part at a time, which takes over about
 * half of the keys of one other part.
 */
export class PositionIndex {
  readonly #parts = [new Map<Key, number>()];
  /** One less than the smallest power of two that is at least the number of parts. */
  #mask = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(key: Key): number | undefined {
    return this.#partOf(key).get(key);
  }

  /** Adds a key that is not in the index. */
  add(key: Key, position: number): void {
    if (++this.#size > PART_SIZE * this.#parts.length) this.#grow();
    this.#partOf(key).set(key, position);
  }

  /** Removes a key that is in the index. */
  remove(key: Key): void {
    this.#size--;
    this.#partOf(key).delete(key);
  }

  #grow(): void {
    const count = this.#parts.length;
    if (count > this.#mask) this.#mask = 2 * this.#mask + 1;
    const source = this.#parts[count & (this.#mask >> 1)]!;
    const added = new Map<Key, number>();
    this.#parts.push(added);
    for (const [key, position] of source) {
      if (this.#partOf(key) === source) continue;
      added.set(key, position);
      source.delete(key);
    }
  }

  #partOf(key: Key): Map<Key, number> {
    const index = hashOf(key) & this.#mask;
    return this.#parts[index] ?? this.#parts[index & (this.#mask >> 1)]!;
  }
}

/** 20 bits. */
function hashOf(key: Key): number {
  const digits = typeof key === 'number' ? key : Number(key.slice(-SHORT_ID));
  return Math.imul(digits, 0x9e3779b1) >>> 12;
}
