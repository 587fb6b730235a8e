/** What the load generator of a soak receives and reports: plain data, because both cross a process boundary. */
import type { Latencies, Outcomes } from '../load/workload';

export interface Traffic {
  readonly url: string;
  /** Each has the plants that `HISTORY` leaves. */
  readonly users: readonly string[];
  readonly seed: number;
  /** At full speed, until generator and service are compiled. */
  readonly warmUpSeconds: number;
  /** Then at full speed in slices of this length, of which the slowest is the capacity. */
  readonly sliceSeconds: number;
  /** Then at half of the capacity: this many windows of this length. */
  readonly windows: number;
  readonly windowSeconds: number;
}

/** The figures of one window. */
export interface TrafficWindow {
  readonly succeeded: Latencies;
  /** Of requests that failed. A client that hangs up on purpose is no failure. */
  readonly failures: Outcomes;
}

export type TrafficReport =
  | { readonly type: 'warm' }
  | { readonly type: 'capacity'; readonly perSecond: number; readonly rate: number }
  | { readonly type: 'window'; readonly window: TrafficWindow };

/** The slices of the measurement of the capacity. */
export const SLICES = 8;

/** Every third event deletes a plant, so 60 events leave 20 of 40 plants: those with the ids 1, 4, 7 … 58. */
export const HISTORY = { events: 60, deletionEvery: 3 };
export const PLANTS_EACH = 20;
export const FIRST_IDS: readonly number[] = Array.from({ length: PLANTS_EACH }, (_, index) => 3 * index + 1);
