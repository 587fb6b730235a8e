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

/** The waiting requests of one lane, the first one first. */
interface Lane {
  readonly name: Startable['lane'];
  readonly requests: Startable[];
}

/**
 * Starts a bounded number of requests per turn of the event loop.
 *
 * After a response in the poll phase, the client can send its next request while libuv still polls. libuv then polls
 * again, up to 48 times for 1,024 events, before timers, new connections and rounds run. So requests beyond the bound
 * wait here until the poll phase has ended.
 */
export class RequestScheduler {
  /** No lane is empty. */
  readonly #lanes = new Map<Startable['lane'], Lane>();
  /** The next lane first. Arrays, because a table of a Map that became old keeps all later ones, and their requests. */
  #turns: Lane[] = [];
  /** Requests that may still start in this turn. */
  #left: number;
  #accepted = false;
  #turnScheduled = false;

  constructor(private readonly perTurn = PER_TURN) {
    this.#left = perTurn;
  }

  /** The number of waiting requests. */
  get waiting(): number {
    return this.#turns.reduce((sum, { requests }) => sum + requests.length, 0);
  }

  /** Starts `request` at once or in one of the next turns. */
  schedule(request: Startable): void {
    if (this.#left > 0 && this.#lanes.size === 0) this.#start(request);
    else this.#enqueue(request);
  }

  /** Removes `request` from its lane. False if it did not wait. */
  cancel(request: Startable): boolean {
    const lane = this.#lanes.get(request.lane);
    const place = lane?.requests.indexOf(request) ?? -1;
    if (!lane || place < 0) return false;
    lane.requests.splice(place, 1);
    if (lane.requests.length === 0) {
      this.#lanes.delete(lane.name);
      this.#turns = this.#turns.filter((other) => other !== lane);
    }
    return true;
  }

  /** Shortens this turn, because a connection was accepted in it. */
  shortenTurn(): void {
    this.#accepted = true;
  }

  #enqueue(request: Startable): void {
    const lane = this.#lanes.get(request.lane);
    if (lane) {
      lane.requests.push(request);
      return;
    }
    const added: Lane = { name: request.lane, requests: [request] };
    this.#lanes.set(added.name, added);
    this.#turns.push(added);
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
    while (this.#left > 0) {
      const lane = this.#turns.shift();
      if (lane === undefined) return;
      const request = lane.requests.shift()!;
      if (lane.requests.length > 0) this.#turns.push(lane);
      else this.#lanes.delete(lane.name);
      this.#start(request);
    }
  };
}
