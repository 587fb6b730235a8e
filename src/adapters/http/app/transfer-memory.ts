import type { User } from '../../../application';

/** A body that is being received, or a response until its client has read it. It takes memory. */
export interface Transfer {
  /** Refuses it, or resets its connection if the response has begun. Called after it has left. */
  abandon(): void;
}

/** An object that several transfers of one user share. */
interface Shared {
  holders: number;
  readonly bytes: number;
}

/** The transfers of one user with their own bytes, the oldest first, and what they share. */
interface Account {
  readonly transfers: Map<Transfer, number>;
  readonly shared: Map<object, Shared>;
  bytes: number;
}

/**
 * Bounds the memory of transfers. Beyond the bound, the oldest transfer of the user with the most bytes is abandoned,
 * until the others fit or `least` are left. So a user whose transfers take no more than its share never loses one for
 * another user.
 */
export class TransferMemory {
  readonly #accounts = new Map<User, Account>();
  #bytes = 0;
  #transfers = 0;

  constructor(
    private readonly maxBytes: number,
    private readonly least: number,
  ) {}

  get bytes(): number {
    return this.#bytes;
  }

  /** The number of transfers. */
  get transfers(): number {
    return this.#transfers;
  }

  /** Counts a transfer and its own `bytes` until it leaves. It may be abandoned at once. */
  enter(user: User, transfer: Transfer, bytes: number): void {
    this.#accountOf(user).transfers.set(transfer, 0);
    this.#transfers++;
    this.grow(user, transfer, bytes);
  }

  /** Counts more `bytes` of a transfer, which may be abandoned at once. Has no effect if it has left before. */
  grow(user: User, transfer: Transfer, bytes: number): void {
    const account = this.#accounts.get(user);
    const before = account?.transfers.get(transfer);
    if (!account || before === undefined) return;
    account.transfers.set(transfer, before + bytes);
    this.#add(account, bytes);
    this.#makeRoom();
  }

  /** Has no effect if the transfer has left before. */
  leave(user: User, transfer: Transfer): void {
    const account = this.#accounts.get(user);
    const bytes = account?.transfers.get(transfer);
    if (!account || bytes === undefined) return;
    account.transfers.delete(transfer);
    this.#transfers--;
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
      account = { transfers: new Map(), shared: new Map(), bytes: 0 };
      this.#accounts.set(user, account);
    }
    return account;
  }

  #add(account: Account, bytes: number): void {
    account.bytes += bytes;
    this.#bytes += bytes;
  }

  #forgetEmpty(user: User, { transfers, shared }: Account): void {
    if (transfers.size === 0 && shared.size === 0) this.#accounts.delete(user);
  }

  #makeRoom(): void {
    while (this.#bytes > this.maxBytes && this.#transfers > this.least) {
      const [user, { transfers }] = [...this.#accounts]
        .filter(([, { transfers }]) => transfers.size > 0)
        .reduce((most, other) => (other[1].bytes > most[1].bytes ? other : most));
      const [oldest] = transfers.keys();
      this.leave(user, oldest!);
      oldest!.abandon();
    }
  }
}
