import type { User } from '../../../application';
import { Overloaded } from './problems';
import { type Transfer, TransferMemory } from './transfer-memory';

const MAX_BYTES = 32 * 2 ** 20;
/** Memory of a piece besides its bytes: a client may send a body byte by byte. */
const PIECE_BYTES = 512;

/** A body that is being received. */
export interface ReceivedBody {
  /** Counts a piece of it. If the memory of all bodies is used up, one of them is refused: this one or another. */
  received(bytes: number): void;
  /** It is complete, or refused. */
  release(): void;
}

/**
 * Bounds the memory of the bodies that are being received, over all connections. Beyond the bound, it refuses the oldest
 * body of the user whose bodies take the most memory. So many slow bodies of others do not harm a user with few bodies.
 */
export class ReceivedBodies {
  readonly #memory: TransferMemory;

  constructor(maxBytes = MAX_BYTES) {
    this.#memory = new TransferMemory(maxBytes, 0);
  }

  /** Their memory, as an estimate. */
  get bytes(): number {
    return this.#memory.bytes;
  }

  /** @param refuse called at most once, and not after `release`. */
  begin(user: User, refuse: (error: Overloaded) => void): ReceivedBody {
    const memory = this.#memory;
    const body: Transfer = {
      abandon: () =>
        refuse(new Overloaded('the bodies that are being received take too much memory', 'bodies')),
    };
    memory.enter(user, body, 0);
    return {
      received: (bytes) => memory.grow(user, body, bytes + PIECE_BYTES),
      release: () => memory.leave(user, body),
    };
  }
}
