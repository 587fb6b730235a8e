/** The value that a share of them, from 0 to 1, does not exceed; between two of them in proportion. Of at least one. */
export function quantile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const place = share * (sorted.length - 1);
  const [below, above] = [sorted[Math.floor(place)]!, sorted[Math.ceil(place)]!];
  return below + (place % 1) * (above - below);
}

export function median(numbers: readonly number[]): number {
  return quantile(numbers, 0.5);
}

/** The middle, and the quarters below and above which are the rest. */
export interface Spread {
  readonly median: number;
  readonly lower: number;
  readonly upper: number;
}

/** Of those that are known, where any is. */
export function spread(numbers: readonly (number | undefined)[]): Spread | undefined {
  const known = numbers.filter((value) => value !== undefined);
  if (known.length === 0) return undefined;
  return { median: median(known), lower: quantile(known, 0.25), upper: quantile(known, 0.75) };
}
