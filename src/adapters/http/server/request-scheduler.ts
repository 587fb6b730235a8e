/** A request, or a step of other work, that can be started. */
export interface Startable {
  /** Requests of one lane start in the order of their arrival; lanes take turns. Constant while the request waits. */
  readonly lane: string | symbol;
  start(): void;
}

/** Requests that one turn of the event loop starts, by default. */
const PER_TURN = 16;
/** The same in a turn that accepted a connection: Node accepts one per turn, and more may wait in the backlog. */
const PER_ACCEPTING_TURN = 4;

/** The waiting requests of one lane, and an iterator that sees later ones, too. */
interface Lane {
  readonly requests: Set<Startable>;
  readonly order: Iterator<Startable, undefined>;
}

/**
 * Starts a bounded number of requests per turn of the event loop.
 *
 * After a response in the poll phase, the client can send its next request while libuv still polls. libuv then polls
 * again, up to 48 times for 1,024 events, before timers, new connections and rounds run. So requests beyond the bound
 * wait here until the poll phase has ended.
 */
export class RequestScheduler {
  /** The next lane first. No lane is empty. */
  readonly #lanes = new Map<Startable['lane'], Lane>();
  /** Requests that may still start in this turn. */
  #left: number;
  #accepted = false;
  #turnScheduled = false;

  constructor(private readonly perTurn = PER_TURN) {
    this.#left = perTurn;
  }

  /** The number of waiting requests. */
  get waiting(): number {
    return [...this.#lanes.values()].reduce((sum, { requests }) => sum + requests.size, 0);
  }

  /** Starts `request` at once or in one of the next turns. */
  schedule(request: Startable): void {
    if (this.#left > 0 && this.#lanes.size === 0) this.#start(request);
    else this.#enqueue(request);
  }

  /** Removes `request` from its lane. False if it did not wait. */
  cancel(request: Startable): boolean {
    const lane = this.#lanes.get(request.lane);
    if (!lane?.requests.delete(request)) return false;
    if (lane.requests.size === 0) this.#lanes.delete(request.lane);
    return true;
  }

  /** Shortens this turn, because a connection was accepted in it. */
  shortenTurn(): void {
    this.#accepted = true;
  }

  #enqueue(request: Startable): void {
    let lane = this.#lanes.get(request.lane);
    if (lane === undefined) {
      const requests = new Set<Startable>();
      lane = { requests, order: requests.values() };
      this.#lanes.set(request.lane, lane);
    }
    lane.requests.add(request);
  }

  #start(request: Startable): void {
    this.#left--;
    if (!this.#turnScheduled) {
      this.#turnScheduled = true;
      setImmediate(this.#beginTurn);
    }
    request.start();
  }

  readonly #beginTurn = (): void => {
    this.#turnScheduled = false;
    this.#left = this.#accepted ? PER_ACCEPTING_TURN : this.perTurn;
    this.#accepted = false;
    for (const [name, lane] of this.#lanes) {
      if (this.#left === 0) break;
      const request = lane.order.next().value!;
      lane.requests.delete(request);
      this.#lanes.delete(name);
      // Moves the lane to the end of the iteration.
      if (lane.requests.size > 0) this.#lanes.set(name, lane);
      this.#start(request);
    }
  };
}
