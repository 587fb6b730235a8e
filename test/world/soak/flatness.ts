/** Decides whether the figures of a soak stay flat. */
import { median } from '../../../bench/statistics';

/** The growth that noise may cause: the greater of both. */
export interface Tolerance {
  /** Of the value at the start. */
  readonly share: number;
  readonly absolute: number;
}

export interface Verdict {
  /** The first value, by the trend. */
  readonly start: number;
  /** From the first to the last value, by the trend. */
  readonly growth: number;
  readonly allowed: number;
  readonly flat: boolean;
}

/** The share of a soak that its warm-up takes: caches fill, and hot code is compiled. */
const WARM_UP = 1 / 4;

/** The values after the warm-up. */
export function settled<T>(values: readonly T[]): T[] {
  return values.slice(Math.ceil(values.length * WARM_UP));
}

/** Judges values that were taken at equal intervals, without a warm-up. A fall is flat. */
export function judge(values: readonly number[], { share, absolute }: Tolerance): Verdict {
  const growth = slope(values) * (values.length - 1);
  const start = median(values) - growth / 2;
  const allowed = Math.max(share * start, absolute);
  return { start, growth, allowed, flat: growth <= allowed };
}

/**
 * The Theil–Sen estimator: the median of the slopes between all pairs. Up to 29 % of the values may be outliers.
 * Throws with fewer than three values, because any two have a slope.
 */
function slope(values: readonly number[]): number {
  if (values.length < 3) throw new RangeError(`${values.length} values show no trend`);
  const slopes = values.flatMap((from, first) =>
    values.slice(first + 1).map((to, distance) => (to - from) / (distance + 1)),
  );
  return median(slopes);
}
