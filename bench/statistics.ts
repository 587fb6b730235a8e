/** The value that a share of the numbers, from 0 to 1, does not exceed, with linear interpolation. At least one number. */
export function quantile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const place = share * (sorted.length - 1);
  const [below, above] = [sorted[Math.floor(place)]!, sorted[Math.ceil(place)]!];
  return below + (place % 1) * (above - below);
}

export function median(numbers: readonly number[]): number {
  return quantile(numbers, 0.5);
}

/** The median and the quartiles. */
export interface Spread {
  readonly median: number;
  readonly lower: number;
  readonly upper: number;
}

/** The spread of the known numbers; `undefined` if none is known. */
export function spread(numbers: readonly (number | undefined)[]): Spread | undefined {
  const known = numbers.filter((value) => value !== undefined);
  if (known.length === 0) return undefined;
  return { median: median(known), lower: quantile(known, 0.25), upper: quantile(known, 0.75) };
}
