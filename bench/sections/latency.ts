/** Measures latencies at half of each server's capacity, with requests that are due at a constant rate. */
import { METHODS, perSecond } from '../compare';
import { contestantOf } from '../contestants';
import type { LoadMethod } from '../../test/world/load/workload';
import { allStarted } from '../measure';
import { MAX_RATE } from '../../test/world/load/pacing';
import { type Panel, plot } from '../plot';
import type { Section } from '../report';
import type { Conditions, MeasuredSlice } from '../session';
import { median, spread } from '../statistics';
import { markdown, ratioText, thousands } from '../table';

/** The measured servers. The first one is what the others are compared with. */
export const NAMES = ['bare', 'plant-store', 'plant-store-redis'];
/** It gets as many requests a second as the other one: what Redis, the disk and a shared core cost any service. */
const CONTROL = { name: 'bare-redis', of: 'plant-store-redis' };
const OTHERS = [CONTROL.name, 'koa-redis'];
const ROUNDS = 5;
/** Of the capacity. */
const SHARE = 0.5;
export const PERCENTILES = { p50: 'p50Ms', p99: 'p99Ms', 'p99.9': 'p999Ms' } as const;
const TAILS = ['p99', 'p99.9'] as const;
export type Percentile = keyof typeof PERCENTILES;

interface AtRate {
  readonly rate: number;
  readonly slice: MeasuredSlice;
}

interface Measured {
  readonly title: string;
  /** One of each round. */
  readonly byMethod: Readonly<Record<LoadMethod, AtRate[]>>;
}

/** @param seconds at the constant rate, for each server and method, in each round. */
export async function latency(conditions: Conditions, rounds = ROUNDS, seconds = 3): Promise<Section> {
  const chosen = [...NAMES, ...OTHERS].map(contestantOf);
  const measured = chosen.map(({ name, title }): Measured => ({
    title: name === CONTROL.name ? `${title}, at the same rate` : title,
    byMethod: { GET: [], POST: [], DELETE: [] },
  }));
  await allStarted(chosen, conditions, async (sessions) => {
    for (let round = 1; round <= rounds; round++) {
      for (const method of METHODS)
        for (const [index, session] of sessions.entries())
          await session.resumed(async () => {
            if (round === 1) await session.warmUp(method);
            // Shortly before, because the speed of the machine changes.
            const half = Math.min(MAX_RATE, SHARE * perSecond(await session.slice(method)));
            const isControl = chosen[index]!.name === CONTROL.name;
            const rate = isControl
              ? measured[NAMES.indexOf(CONTROL.of)]!.byMethod[method].at(-1)!.rate
              : half;
            const slice = await session.atRate(method, rate, seconds);
            measured[index]!.byMethod[method].push({ rate, slice });
          });
      console.log(
        `latency, round ${round}: GET p99 ${measured.map(({ byMethod }) => byMethod.GET.at(-1)!.slice.p99Ms.toFixed(1)).join(', ')} ms`,
      );
    }
  });
  const title = 'Latency at half of the capacity, in ms';
  const picture = 'benchmark-latency.svg';
  const tables = [figures(measured), ratios(measured)].join('\n\n');
  return {
    text: `![${title}](${picture})\n\n${tables}`,
    files: { [picture]: plot(title, Object.keys(PERCENTILES), panels(measured)) },
  };
}

export function middle(slices: readonly MeasuredSlice[], percentile: Percentile): number {
  return median(slices.map((slice) => slice[PERCENTILES[percentile]]));
}

/** The share of its core that the server uses at the rate; `undefined` if the system does not report it. */
function useOfCore({ rate, slice: { cpuSeconds, requests } }: AtRate): number | undefined {
  return cpuSeconds && (cpuSeconds * rate) / requests;
}

const slicesOf = (all: readonly AtRate[]) => all.map(({ slice }) => slice);

function figures(measured: readonly Measured[]): string {
  const heads = METHODS.map(
    (method) => `${method}: requests a second, share of the core, p50, p99, p99.9 in ms`,
  );
  const rows = measured.map(({ title, byMethod }) => [
    title,
    ...METHODS.map((method) => {
      const all = byMethod[method];
      const times = (Object.keys(PERCENTILES) as Percentile[]).map((each) =>
        middle(slicesOf(all), each).toFixed(2),
      );
      const use = spread(all.map(useOfCore))?.median.toFixed(2) ?? '–';
      return [thousands(median(all.map(({ rate }) => rate))), use, ...times].join(', ');
    }),
  ]);
  return markdown(['', ...heads], rows);
}

/** To the first server in the same round. */
function ratios([reference, ...others]: readonly Measured[]): string {
  const heads = METHODS.flatMap((method) => TAILS.map((tail) => `${method}, ${tail}`));
  const rows = others.map(({ title, byMethod }) => [
    title,
    ...METHODS.flatMap((method) =>
      TAILS.map((tail) => {
        const of = ({ slice }: AtRate) => slice[PERCENTILES[tail]];
        const all = byMethod[method].map((own, round) => of(own) / of(reference!.byMethod[method][round]!));
        return ratioText(spread(all));
      }),
    ),
  ]);
  return markdown(['latency as a multiple of that of bare', ...heads], rows);
}

function panels(measured: readonly Measured[]): Panel[] {
  return METHODS.map((method) => ({
    title: method,
    lines: measured.map(({ title, byMethod }) => ({
      title,
      values: (Object.keys(PERCENTILES) as Percentile[]).map((each) =>
        middle(slicesOf(byMethod[method]), each),
      ),
    })),
  }));
}
