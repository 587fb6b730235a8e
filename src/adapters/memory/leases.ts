import type { LeaseStore } from '../../event-sourcing';

/** Keeps the leases of projections in the memory of this process, for development and tests. */
export class MemoryLeases implements LeaseStore {
  readonly #texts = new Map<string, string>();

  /** @param now the time in ms. */
  constructor(private readonly now: () => number = Date.now) {}

  async load(projection: string): Promise<{ text: string | undefined; now: number }> {
    return { text: this.#texts.get(projection), now: this.now() };
  }

  async save(projection: string, expected: string | undefined, text: string | undefined): Promise<boolean> {
    if (this.#texts.get(projection) !== expected) return false;
    if (text === undefined) this.#texts.delete(projection);
    else this.#texts.set(projection, text);
    return true;
  }

  async projections(): Promise<string[]> {
    return [...this.#texts.keys()];
  }
}
