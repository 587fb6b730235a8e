import type { Missing, Received } from './connection';
import type { ClientGroup, GroupFigures, Latencies } from './workload';

/** Counts the outcomes of the requests of one group. */
export class Recorder {
  readonly #outcomes: Record<string, number> = {};
  readonly #succeeded: number[] = [];
  readonly #failed: number[] = [];
  #failures = 0;
  /** Time of the first success by user, in ms since the start. */
  readonly #served = new Map<string, number>();

  constructor(
    private readonly group: ClientGroup,
    private readonly startedAt: number,
  ) {}

  /** Whether it was a success. */
  record(user: string, outcome: Received | Missing, sentAt: number): boolean {
    const now = performance.now();
    const missing = typeof outcome === 'string';
    const key = missing ? outcome : String(outcome.error ?? outcome.status);
    this.#outcomes[key] = (this.#outcomes[key] ?? 0) + 1;
    const success = !missing && outcome.status < 400;
    if (success && !this.#served.has(user)) this.#served.set(user, now - this.startedAt);
    if (!success) this.#failures++;
    if (!missing) (success ? this.#succeeded : this.#failed).push(now - sentAt);
    return success;
  }

  get figures(): GroupFigures {
    const users = new Set(this.group.users).size;
    const served = this.#served.size;
    return {
      name: this.group.name,
      requests: Object.values(this.#outcomes).reduce((sum, count) => sum + count, 0),
      outcomes: this.#outcomes,
      failures: this.#failures,
      succeeded: latencies(this.#succeeded),
      failed: latencies(this.#failed),
      users,
      served,
      ...(served === users ? { allServedMs: Math.max(...this.#served.values()) } : {}),
    };
  }
}

export function latencies(times: readonly number[]): Latencies {
  const sorted = Float64Array.from(times).sort();
  const at = (share: number) => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), max: at(1) };
}
