import type { Clock } from '../ports/clock';
import { StoreUnavailable } from '../ports/faults';

/** How long a state that was too large is not loaded or extended again. */
const TOO_LARGE_MS = 10_000;
/** Commands may fill only this share of the limit, so that the state can always be loaded again. */
const GROWTH_SHARE = 7 / 8;

/** Limits the memory of one state; after an excess it refuses requests for {@link TOO_LARGE_MS}. */
export class SizeLimit {
  #exceededUntil: number | undefined;

  /** @param report called each time the limit is exceeded. */
  constructor(
    private readonly clock: Clock,
    readonly maxBytes: number,
    private readonly report: () => void,
  ) {}

  /** Why a state of `bytes` cannot be loaded; `undefined` if it can. */
  checkLoad(bytes: number): StoreUnavailable | undefined {
    return bytes > this.maxBytes ? this.#exceeded() : undefined;
  }

  /** Why a command that makes the state as large as `bytes` is refused; `undefined` if it is accepted. */
  checkGrowth(bytes: number): StoreUnavailable | undefined {
    return this.recentRefusal() ?? (bytes > GROWTH_SHARE * this.maxBytes ? this.#exceeded() : undefined);
  }

  /** The refusal while the last excess is recent; `undefined` otherwise. */
  recentRefusal(): StoreUnavailable | undefined {
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
  return new StoreUnavailable('the state of this stream takes more memory than this instance has for it', {
    reason: 'state_size',
    retryAfterMs,
  });
}
