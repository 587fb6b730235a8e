/** Measures how latencies grow with the load: at several shares of each server's capacity, at constant rates. */
import { perSecond } from '../compare';
import { VoidFigure } from '../load';
import { contestantOf } from '../contestants';
import { allStarted } from '../measure';
import { type Panel, plot } from '../plot';
import type { Section } from '../report';
import { NAMES, PERCENTILES, type Percentile, middle } from './latency';
import type { Conditions, MeasuredSlice } from '../session';
import { median } from '../statistics';
import { markdown, thousands } from '../table';

const METHODS = ['GET', 'POST'] as const;
const SHARES = [0.25, 0.5, 0.75, 0.9];
/**
 * Requests a second that the generator can send. Above half of that it is late more often itself, as the bare server shows.
 */
const MOST_A_SECOND = 24_000;
const ROUNDS = 3;
const FILE = 'benchmark-latency-by-load';

/** One method of one server. */
interface Measured {
  readonly name: string;
  readonly title: string;
  readonly method: (typeof METHODS)[number];
  /** Of each share, in each round. Without slices where the generator could not send at its rate, or the server refused. */
  readonly points: readonly { readonly share: number; readonly rates: number[]; slices: MeasuredSlice[] }[];
}

/** @param seconds at each rate, for each server and method, in each round. */
export async function latencyByLoad(conditions: Conditions, rounds = ROUNDS, seconds = 3): Promise<Section> {
  const chosen = NAMES.map(contestantOf);
  const measured = METHODS.flatMap((method) =>
    chosen.map(({ name, title }): Measured => ({
      ...{ name, title, method },
      points: SHARES.map((share) => ({ share, rates: [], slices: [] })),
    })),
  );
  await allStarted(chosen, conditions, async (sessions) => {
    for (let round = 1; round <= rounds; round++) {
      for (const { name, method, points } of measured) {
        const session = sessions[NAMES.indexOf(name)]!;
        await session.resumed(async () => {
          // In each round, because a server that was idle is slower at first.
          await session.warmUp(method);
          for (const { share, rates, slices } of points) {
            // Shortly before, because the speed of the machine changes.
            const rate = share * perSecond(await session.slice(method));
            rates.push(rate);
            if (rate > MOST_A_SECOND) continue;
            const slice = await session.atRate(method, rate, seconds).catch(ifVoid);
            if (slice) slices.push(slice);
          }
        });
      }
      console.log(`latency by load, round ${round}`);
    }
  });
  // A median of the rounds in which the machine was slow would be another one.
  for (const { points } of measured)
    for (const point of points) if (point.slices.length < rounds) point.slices = [];

  const title = 'The 99th percentile of latencies in ms, by the share of the capacity';
  return {
    text: `![${title}](${FILE}.svg)\n\n${table(measured)}\n\nAll counts: [${FILE}.csv](${FILE}.csv).`,
    files: {
      [`${FILE}.svg`]: plot(title, SHARES.map(percent), panels(measured)),
      [`${FILE}.csv`]: histograms(measured),
    },
  };
}

/** Close to its capacity a server refuses requests, as it should: that load has no figure. */
function ifVoid(error: unknown): undefined {
  if (!(error instanceof VoidFigure)) throw error;
  console.log(error.message);
}

const percent = (share: number) => `${100 * share} %`;

function table(measured: readonly Measured[]): string {
  const rows = measured.map(({ title, method, points }) => [
    `${title}, ${method}`,
    ...points.map(({ rates, slices }) => {
      if (slices.length === 0) return '–';
      const times = (Object.keys(PERCENTILES) as Percentile[]).map((each) => middle(slices, each).toFixed(2));
      return `${thousands(median(rates))}: ${times.join(', ')}`;
    }),
  ]);
  const heads = SHARES.map((share) => `${percent(share)}: requests a second, then p50, p99, p99.9 in ms`);
  return markdown(['', ...heads], rows);
}

function panels(measured: readonly Measured[]): Panel[] {
  return METHODS.map((method) => ({
    title: method,
    lines: measured
      .filter((each) => each.method === method)
      .map(({ title, points }) => ({
        title,
        values: points.filter(({ slices }) => slices.length > 0).map(({ slices }) => middle(slices, 'p99')),
      })),
  }));
}

/** All rounds together, as CSV: the number of requests whose latency was at most this one, and above that before it. */
function histograms(measured: readonly Measured[]): string {
  const rows = measured.flatMap(({ name, method, points }) =>
    points.flatMap(({ share, rates, slices }) => {
      const counts = new Map<number, number>();
      for (const { histogram = [] } of slices)
        for (const [ms, count] of histogram) counts.set(ms, (counts.get(ms) ?? 0) + count);
      const sorted = [...counts].sort(([a], [b]) => a - b);
      const rate = Math.round(median(rates));
      return sorted.map(([ms, count]) => [name, method, share, rate, ms.toPrecision(4), count].join(','));
    }),
  );
  return `${['server,method,share,requests_per_second,latency_ms,requests', ...rows].join('\n')}\n`;
}
