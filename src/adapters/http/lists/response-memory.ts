import type { User } from '../../../application';

/** A response that takes memory until its client has read it. */
export interface HeldResponse {
  /** Refuses it, or resets its connection if it has begun. Called after it has left. */
  abandon(): void;
}

/** An object that several responses of one user share. */
interface Shared {
  holders: number;
  readonly bytes: number;
}

/** The responses of one user with their own bytes, the oldest first, and what they share. */
interface Account {
  readonly responses: Map<HeldResponse, number>;
  readonly shared: Map<object, Shared>;
  bytes: number;
}

/**
 * Bounds the memory of responses that are being sent. Beyond the bound, the oldest response of the user with the most
 * bytes is abandoned, until the others fit or one response is left. So a user whose responses take no more than its
 * share never loses one for another user.
 */
export class ResponseMemory {
  readonly #accounts = new Map<User, Account>();
  #bytes = 0;
  #responses = 0;

  constructor(private readonly maxBytes: number) {}

  get bytes(): number {
    return this.#bytes;
  }

  /** The number of responses. */
  get responses(): number {
    return this.#responses;
  }

  /** Counts a response and its own `bytes` until it leaves. It may be abandoned at once. */
  enter(user: User, response: HeldResponse, bytes: number): void {
    const account = this.#accountOf(user);
    account.responses.set(response, bytes);
    this.#responses++;
    this.#add(account, bytes);
    this.#makeRoom();
  }

  /** Has no effect if the response has left before. */
  leave(user: User, response: HeldResponse): void {
    const account = this.#accounts.get(user);
    const bytes = account?.responses.get(response);
    if (!account || bytes === undefined) return;
    account.responses.delete(response);
    this.#responses--;
    this.#add(account, -bytes);
    this.#forgetEmpty(user, account);
  }

  /** Counts the bytes of an object until it is {@link release}d as often as it was held: once, however often it is held. */
  hold(user: User, object: object, bytes: () => number): void {
    const account = this.#accountOf(user);
    const shared = account.shared.get(object);
    if (shared !== undefined) {
      shared.holders++;
      return;
    }
    const added: Shared = { holders: 1, bytes: bytes() };
    account.shared.set(object, added);
    this.#add(account, added.bytes);
    this.#makeRoom();
  }

  release(user: User, object: object): void {
    const account = this.#accounts.get(user)!;
    const shared = account.shared.get(object)!;
    if (--shared.holders > 0) return;
    account.shared.delete(object);
    this.#add(account, -shared.bytes);
    this.#forgetEmpty(user, account);
  }

  #accountOf(user: User): Account {
    let account = this.#accounts.get(user);
    if (account === undefined) {
      account = { responses: new Map(), shared: new Map(), bytes: 0 };
      this.#accounts.set(user, account);
    }
    return account;
  }

  #add(account: Account, bytes: number): void {
    account.bytes += bytes;
    this.#bytes += bytes;
  }

  #forgetEmpty(user: User, { responses, shared }: Account): void {
    if (responses.size === 0 && shared.size === 0) this.#accounts.delete(user);
  }

  #makeRoom(): void {
    while (this.#bytes > this.maxBytes && this.#responses > 1) {
      const [user, { responses }] = [...this.#accounts]
        .filter(([, { responses }]) => responses.size > 0)
        .reduce((most, other) => (other[1].bytes > most[1].bytes ? other : most));
      const [oldest] = responses.keys();
      this.leave(user, oldest!);
      oldest!.abandon();
    }
  }
}
