import type { User } from '../../application';

/** A sum for each user: of requests, of bytes. A user whose sum is 0 takes no memory. */
export class Sums {
  readonly #sums = new Map<User, number>();
  /** Of all users. */
  total = 0;

  of(user: User): number {
    return this.#sums.get(user) ?? 0;
  }

  /** Returns the new sum of the user. */
  add(user: User, amount: number): number {
    const sum = this.of(user) + amount;
    this.total += amount;
    if (sum > 0) this.#sums.set(user, sum);
    else this.#sums.delete(user);
    return sum;
  }
}
