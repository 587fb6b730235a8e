import type { Clock } from './clock';
import { StoreUnavailable } from './event-store';

/** For how long a list that was found too large is not loaded, or not extended, again. */
const TOO_LARGE_MS = 10_000;
/** The share of the limit up to which a list may grow by commands, so that what was created can be loaded again. */
const GROWTH_SHARE = 7 / 8;

/** Bounds the memory of one list, and remembers for a while that it was exceeded. */
export class SizeLimit {
  #exceededUntil: number | undefined;

  /** @param report called each time the limit is exceeded. */
  constructor(
    private readonly clock: Clock,
    readonly maxBytes: number,
    private readonly report: () => void,
  ) {}

  /** Why a load of so many bytes cannot go on; `undefined` where it can. */
  ofLoad(bytes: number): StoreUnavailable | undefined {
    return bytes > this.maxBytes ? this.#exceeded() : undefined;
  }

  /** Why a command that makes the list so large is refused; `undefined` where it is not. */
  ofGrowth(bytes: number): StoreUnavailable | undefined {
    return this.recent() ?? (bytes > GROWTH_SHARE * this.maxBytes ? this.#exceeded() : undefined);
  }

  /** The refusal of a list that was found too large a short time ago. */
  recent(): StoreUnavailable | undefined {
    if (this.#exceededUntil === undefined) return undefined;
    const waitMs = this.#exceededUntil - this.clock.now();
    if (waitMs > 0) return refusal(waitMs);
    this.#exceededUntil = undefined;
    return undefined;
  }

  #exceeded(): StoreUnavailable {
    this.#exceededUntil = this.clock.now() + TOO_LARGE_MS;
    this.report();
    return refusal(TOO_LARGE_MS);
  }
}

function refusal(retryAfterMs: number): StoreUnavailable {
  return new StoreUnavailable('the plants of this user take more memory than this instance has for them', {
    retryAfterMs,
  });
}
