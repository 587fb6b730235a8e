import type { User } from '../../application';

/** Bounds the requests of one user that are in flight at a time. */
export class UserAdmission {
  readonly #inFlight = new Map<User, number>();

  /** @param max requests of one user; at least 1. */
  constructor(private readonly max: number) {}

  /** Counts a request of `user`, which {@link leave} ends. False where `max` are in flight. */
  enter(user: User): boolean {
    const inFlight = this.#inFlight.get(user) ?? 0;
    if (inFlight >= this.max) return false;
    this.#inFlight.set(user, inFlight + 1);
    return true;
  }

  leave(user: User): void {
    const inFlight = this.#inFlight.get(user)! - 1;
    if (inFlight === 0) this.#inFlight.delete(user);
    else this.#inFlight.set(user, inFlight);
  }
}
