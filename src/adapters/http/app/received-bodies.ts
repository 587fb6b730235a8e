import type { User } from '../../../application';
import { Overloaded } from './problems';

const MAX_BYTES = 32 * 2 ** 20;
/** Memory of a piece besides its bytes: a client may send a body byte by byte. */
const PIECE_BYTES = 512;

/**
 * Bounds the memory of the bodies that are being received, over all connections. Beyond the bound, the body that began
 * first is ended of the user whose bodies take the most memory. So a user with few bodies is served, however many
 * others are sent slowly.
 */
export class ReceivedBodies {
  #bytes = 0;
  /** By user: the bodies, in the order in which they began. */
  readonly #users = new Map<User, Set<ReceivedBody>>();

  constructor(private readonly maxBytes = MAX_BYTES) {}

  /** Their memory, as an estimate. */
  get bytes(): number {
    return this.#bytes;
  }

  /** @param refuse called at most once, and not after `release`. */
  begin(user: User, refuse: (error: Overloaded) => void): ReceivedBody {
    const body = new ReceivedBody(this, user, refuse);
    const bodies = this.#users.get(user);
    if (bodies === undefined) this.#users.set(user, new Set([body]));
    else bodies.add(body);
    return body;
  }

  /** Called by the body. */
  add(bytes: number): void {
    this.#bytes += bytes;
    while (this.#bytes > this.maxBytes) this.#endOne();
  }

  /** Called by the body. */
  delete(body: ReceivedBody): void {
    const bodies = this.#users.get(body.user);
    if (bodies?.delete(body) !== true) return;
    this.#bytes -= body.bytes;
    if (bodies.size === 0) this.#users.delete(body.user);
  }

  #endOne(): void {
    let largest: ReadonlySet<ReceivedBody> = new Set();
    let most = 0;
    for (const bodies of this.#users.values()) {
      let bytes = 0;
      for (const body of bodies) bytes += body.bytes;
      if (bytes > most) [largest, most] = [bodies, bytes];
    }
    const [oldest] = largest;
    oldest!.end();
  }
}

/** A body that is being received. */
class ReceivedBody {
  /** Its memory so far. */
  bytes = 0;
  #ended = false;

  constructor(
    private readonly all: ReceivedBodies,
    readonly user: User,
    private readonly refuse: (error: Overloaded) => void,
  ) {}

  /** Counts a piece of it. If the memory of all bodies is used up, one of them is refused: this one or another. */
  received(bytes: number): void {
    if (this.#ended) return;
    this.bytes += bytes + PIECE_BYTES;
    this.all.add(bytes + PIECE_BYTES);
  }

  /** It is complete, or refused. */
  release(): void {
    this.#ended = true;
    this.all.delete(this);
  }

  /** Called if the memory of all bodies is used up. */
  end(): void {
    this.release();
    this.refuse(new Overloaded('the bodies that are being received take too much memory', 'bodies'));
  }
}
