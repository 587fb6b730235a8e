/** From the figures of all rounds to the tables that are printed. */
import type { Method } from './load';
import type { Contestant } from './measure';
import type { Figure, Figures } from './session';
import { type Spread, median, spread } from './statistics';

export const METHODS = ['GET', 'POST', 'DELETE'] as const satisfies readonly Method[];

/** By name of the contestant; bare is in each. */
export type Round = ReadonlyMap<string, Figures>;

export interface Row {
  readonly name: string;
  readonly title: string;
  readonly byMethod: Readonly<Record<Method, Cell>>;
}

export interface Cell {
  readonly perSecond: number;
  /** Of requests a second, to bare in the same round: 1 is as fast. */
  readonly rate: Spread;
  /** Of bare's processor time for a request, in the same round, to its own: 1 is as little. */
  readonly cpu: Spread | undefined;
  readonly cpuMicroseconds: number | undefined;
  readonly p99Ms: number;
}

export function rowsOf(contestants: readonly Contestant[], rounds: readonly Round[]): Row[] {
  return contestants.map(({ name, title }) => ({
    name,
    title,
    byMethod: Object.fromEntries(
      METHODS.map((method) => [method, cellOf(name, method, rounds)]),
    ) as unknown as Record<Method, Cell>,
  }));
}

function cellOf(name: string, method: Method, rounds: readonly Round[]): Cell {
  const pairs = rounds.map((round) => [round.get(name)![method], round.get('bare')![method]] as const);
  const own = pairs.map(([figure]) => figure);
  const cpu = pairs.map(([figure, bare]) => cpuRatio(figure, bare)).filter((ratio) => ratio !== undefined);
  const microseconds = own.map((figure) => figure.cpuMicroseconds).filter((time) => time !== undefined);
  return {
    perSecond: median(own.map((figure) => figure.perSecond)),
    rate: spread(pairs.map(([figure, bare]) => figure.perSecond / bare.perSecond)),
    cpu: cpu.length > 0 ? spread(cpu) : undefined,
    cpuMicroseconds: microseconds.length > 0 ? median(microseconds) : undefined,
    p99Ms: median(own.map((figure) => figure.p99Ms)),
  };
}

/** Of the processor time of a request: what the ratio of requests a second would be, if nothing else were waited for. */
export function cpuRatio(figure: Figure, bare: Figure): number | undefined {
  if (!figure.cpuMicroseconds || !bare.cpuMicroseconds) return undefined;
  return bare.cpuMicroseconds / figure.cpuMicroseconds;
}

export function ratioTable(rows: readonly Row[], rounds: number): string {
  const cell = (ratio: Spread | undefined) => (ratio ? ratioText(ratio, rounds) : '–');
  return markdown(
    ['', ...METHODS, ...METHODS.map((method) => `${method}, processor`)],
    rows.map(({ title, byMethod }) => [
      title,
      ...METHODS.map((method) => cell(byMethod[method].rate)),
      ...METHODS.map((method) => cell(byMethod[method].cpu)),
    ]),
  );
}

export function figureTable(rows: readonly Row[]): string {
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

/** A ratio with its spread, where there is more than one. */
export function ratioText({ median, least, most }: Spread, rounds: number): string {
  const digits = median < 0.095 ? 3 : 2;
  const text = median.toFixed(digits);
  return rounds > 1 ? `${text} (${least.toFixed(digits)}–${most.toFixed(digits)})` : text;
}

export function thousands(value: number): string {
  return Math.round(value).toLocaleString('en-GB');
}

export function markdown(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(['---', ...head.slice(1).map(() => '--:')]), ...rows.map(line)].join('\n');
}
