/** Measures latencies at half of each server's capacity, with requests that are due at a constant rate. */
import { METHODS, perSecond } from '../compare';
import { contestants } from '../contestants';
import type { LoadMethod } from '../../test/world/load/workload';
import { started } from '../measure';
import { MAX_RATE } from '../../test/world/load/pacing';
import { type Panel, plot } from '../plot';
import type { Section } from '../report';
import type { Conditions, MeasuredSlice } from '../session';
import { markdown, thousands } from '../table';

const NAMES = ['plant-store', 'plant-store-redis', 'fastify', 'bare'];
/** Of the capacity. */
const SHARE = 0.5;
const PERCENTILES = { p50: 'p50Ms', p99: 'p99Ms', 'p99.9': 'p999Ms' } as const;

interface Measured {
  readonly title: string;
  readonly byMethod: Readonly<Record<LoadMethod, { readonly rate: number; readonly slice: MeasuredSlice }>>;
}

/** @param seconds at the constant rate, for each server and method. */
export async function latency(conditions: Conditions, seconds = 8): Promise<Section> {
  const measured: Measured[] = [];
  for (const contestant of contestants().filter(({ name }) => NAMES.includes(name))) {
    const byMethod = await started(contestant, conditions, async (session) => {
      const all: [LoadMethod, Measured['byMethod'][LoadMethod]][] = [];
      for (const method of METHODS) {
        await session.warmUp(method);
        const rate = Math.min(MAX_RATE, SHARE * perSecond(await session.slice(method)));
        all.push([method, { rate, slice: await session.atRate(method, rate, seconds) }]);
      }
      return Object.fromEntries(all) as Measured['byMethod'];
    });
    measured.push({ title: contestant.title, byMethod });
    console.log(`latency of ${contestant.name}: GET p99 ${byMethod.GET.slice.p99Ms.toFixed(1)} ms`);
  }
  const heads = METHODS.map((method) => `${method}: requests a second, p50, p99, p99.9 in ms`);
  const title = 'Latency at half of the capacity, in ms';
  const picture = 'benchmark-latency.svg';
  return {
    text: `![${title}](${picture})\n\n${markdown(['', ...heads], rows(measured))}`,
    pictures: { [picture]: plot(title, Object.keys(PERCENTILES), panels(measured)) },
  };
}

function rows(measured: readonly Measured[]): string[][] {
  return measured.map(({ title, byMethod }) => [
    title,
    ...METHODS.map((method) => {
      const { rate, slice } = byMethod[method];
      const times = Object.values(PERCENTILES).map((percentile) => slice[percentile].toFixed(2));
      return [thousands(rate), ...times].join(', ');
    }),
  ]);
}

function panels(measured: readonly Measured[]): Panel[] {
  return METHODS.map((method) => ({
    title: method,
    lines: measured.map(({ title, byMethod }) => ({
      title,
      values: Object.values(PERCENTILES).map((percentile) => byMethod[method].slice[percentile]),
    })),
  }));
}
