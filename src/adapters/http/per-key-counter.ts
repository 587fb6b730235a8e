export class PerKeyCounter<Key> {
  readonly #sums = new Map<Key, number>();
  total = 0;

  of(key: Key): number {
    return this.#sums.get(key) ?? 0;
  }

  add(key: Key, amount: number): number {
    const sum = this.of(key) + amount;
    this.total += amount;
    if (sum > 0) this.#sums.set(key, sum);
    else this.#sums.delete(key);
    return sum;
  }
}
