import type { Missing, Received } from './connection';
import type { ClientGroup, GroupFigures, Histogram, Latencies } from './workload';

/** From one limit of a histogram to the next. */
const STEP = 1.05;

/** Counts the outcomes of the requests of one group. */
export class Recorder {
  #outcomes: Record<string, number> = {};
  #succeeded: number[] = [];
  #failed: number[] = [];
  #failures = 0;
  /** Time of the first success by user, in ms since the start. */
  readonly #served = new Map<string, number>();

  constructor(
    private readonly group: ClientGroup,
    private readonly startedAt: number,
  ) {}

  /** Whether it was a success. */
  record(user: string, outcome: Received | Missing, dueAt: number): boolean {
    const now = performance.now();
    const missing = typeof outcome === 'string';
    const key = missing ? outcome : String(outcome.error ?? outcome.status);
    this.#outcomes[key] = (this.#outcomes[key] ?? 0) + 1;
    const success = !missing && outcome.status < 400;
    if (success && !this.#served.has(user)) this.#served.set(user, now - this.startedAt);
    if (!success) this.#failures++;
    const counts = !success || dueAt >= this.startedAt + (this.group.warmUpMs ?? 0);
    if (!missing && counts) (success ? this.#succeeded : this.#failed).push(now - dueAt);
    return success;
  }

  /** The figures of the requests since the last call. */
  take(): GroupFigures {
    const figures = this.#figures();
    this.#outcomes = {};
    this.#succeeded = [];
    this.#failed = [];
    this.#failures = 0;
    return figures;
  }

  #figures(): GroupFigures {
    const users = new Set(this.group.users).size;
    const served = this.#served.size;
    return {
      name: this.group.name,
      requests: Object.values(this.#outcomes).reduce((sum, count) => sum + count, 0),
      outcomes: this.#outcomes,
      failures: this.#failures,
      succeeded: latencies(this.#succeeded),
      failed: latencies(this.#failed),
      histogram: histogramOf(this.#succeeded),
      users,
      served,
      ...(served === users ? { allServedMs: Math.max(...this.#served.values()) } : {}),
    };
  }
}

function latencies(times: readonly number[]): Latencies {
  const sorted = Float64Array.from(times).sort();
  const at = (share: number) => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), p999: at(0.999), max: at(1) };
}

function histogramOf(times: readonly number[]): Histogram {
  const counts = new Map<number, number>();
  for (const time of times) {
    const power = Math.ceil(Math.log(time) / Math.log(STEP));
    counts.set(power, (counts.get(power) ?? 0) + 1);
  }
  const sorted = [...counts].sort(([a], [b]) => a - b);
  return sorted.map(([power, count]) => [STEP ** power, count]);
}
