/** Makes the printed tables from the figures of all rounds. */
import { METHODS, type Pair, type Pairs, cpuMicroseconds, cpuRatio, perSecond, rateRatio } from './compare';
import type { LoadMethod } from '../test/world/load/workload';
import type { Contestant } from './measure';
import { type Spread, median, spread } from './statistics';

export interface TableRow {
  readonly name: string;
  readonly title: string;
  readonly byMethod: Readonly<Record<LoadMethod, TableCell>>;
}

export interface TableCell {
  readonly perSecond: number;
  /** Ratio of the throughput to that of bare in the adjacent second: 1 is as fast. */
  readonly rate: Spread;
  /** Ratio of bare's processor time per request in the adjacent second to its own: 1 is as little. */
  readonly cpu: Spread | undefined;
  readonly cpuMicroseconds: number | undefined;
  readonly p99Ms: number;
}

/** @param compared with bare, by name. */
export function rowsOf(contestants: readonly Contestant[], compared: ReadonlyMap<string, Pairs>): TableRow[] {
  return contestants.map(({ name, title }) => {
    const pairs = compared.get(name)!;
    const cells = METHODS.map((method) => [method, cellOf(pairs[method])]);
    return { name, title, byMethod: Object.fromEntries(cells) as Record<LoadMethod, TableCell> };
  });
}

function cellOf(pairs: readonly Pair[]): TableCell {
  const own = pairs.map((pair) => pair.own);
  return {
    perSecond: median(own.map(perSecond)),
    rate: spread(pairs.map(rateRatio))!,
    cpu: spread(pairs.map(cpuRatio)),
    cpuMicroseconds: spread(own.map(cpuMicroseconds))?.median,
    p99Ms: median(own.map(({ p99Ms }) => p99Ms)),
  };
}

export function ratioTable(rows: readonly TableRow[]): string {
  return markdown(
    ['', ...METHODS, ...METHODS.map((method) => `${method}, processor`)],
    rows.map(({ title, byMethod }) => [
      title,
      ...METHODS.map((method) => ratioText(byMethod[method].rate)),
      ...METHODS.map((method) => ratioText(byMethod[method].cpu)),
    ]),
  );
}

export function figureTable(rows: readonly TableRow[]): string {
  return markdown(
    ['', ...METHODS.map((method) => `${method}: a second, µs of processor, p99 in ms`)],
    rows.map(({ title, byMethod }) => [
      title,
      ...METHODS.map((method) => {
        const { perSecond, cpuMicroseconds, p99Ms } = byMethod[method];
        return `${thousands(perSecond)}, ${cpuMicroseconds?.toFixed(1) ?? '–'}, ${p99Ms.toFixed(1)}`;
      }),
    ]),
  );
}

/** One row per method, with the spread of each of these ratios over all pairs. */
export function ratiosTable(
  head: string,
  pairs: Pairs,
  ratios: Readonly<Record<string, (pair: Pair) => number | undefined>>,
): string {
  const rows = METHODS.map((method) => [
    method,
    ...Object.values(ratios).map((ratio) => ratioText(spread(pairs[method].map(ratio)))),
  ]);
  return markdown([head, ...Object.keys(ratios)], rows);
}

/** A ratio with its spread; a dash if there is none. */
export function ratioText(ratio: Spread | undefined): string {
  if (ratio === undefined) return '–';
  const { median, lower, upper } = ratio;
  const digits = median < 0.095 ? 3 : 2;
  const texts = [median, lower, upper].map((value) => value.toFixed(digits));
  return lower === upper ? texts[0]! : `${texts[0]} (${texts[1]}–${texts[2]})`;
}

export function thousands(value: number): string {
  return Math.round(value).toLocaleString('en-GB');
}

/** @param align of all columns but the first, as Markdown writes it. */
export function markdown(
  head: readonly string[],
  rows: readonly (readonly unknown[])[],
  align = '--:',
): string {
  const line = (cells: readonly unknown[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(['---', ...head.slice(1).map(() => align)]), ...rows.map(line)].join('\n');
}
