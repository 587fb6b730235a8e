/** A sum for each key: of requests, of bytes. A key whose sum is 0 takes no memory. */
export class PerKeyCounter<Key> {
  readonly #sums = new Map<Key, number>();
  /** Of all keys. */
  total = 0;

  of(key: Key): number {
    return this.#sums.get(key) ?? 0;
  }

  /** Returns the new sum of the key. */
  add(key: Key, amount: number): number {
    const sum = this.of(key) + amount;
    this.total += amount;
    if (sum > 0) this.#sums.set(key, sum);
    else this.#sums.delete(key);
    return sum;
  }
}
