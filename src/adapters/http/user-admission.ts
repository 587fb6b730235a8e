import type { ServerResponse } from 'node:http';
import type { User } from '../../application';

/** Bounds the requests of one user that are in flight at a time. */
export class UserAdmission {
  readonly #inFlight = new Map<User, number>();

  /** @param max requests of one user; at least 1. */
  constructor(private readonly max: number) {}

  /**
   * The result of `handle`, or `undefined` without a call of it where `max` requests of `user` are in flight. A request
   * is in flight until `handle` has settled and `response` is closed: a client that goes away leaves its work behind.
   */
  admit<T>(user: User, response: ServerResponse, handle: () => T): T | undefined {
    const inFlight = this.#inFlight.get(user) ?? 0;
    if (inFlight >= this.max) return undefined;
    this.#inFlight.set(user, inFlight + 1);
    let open = 2;
    const close = () => {
      if (--open === 0) this.#leave(user);
    };
    if (response.destroyed) close();
    else response.once('close', close);
    try {
      const result = handle();
      if (result instanceof Promise) result.then(close, close);
      else close();
      return result;
    } catch (error) {
      close();
      throw error;
    }
  }

  #leave(user: User): void {
    const inFlight = this.#inFlight.get(user)! - 1;
    if (inFlight === 0) this.#inFlight.delete(user);
    else this.#inFlight.set(user, inFlight);
  }
}
