/**
 * The soak as a scenario: one Redis and one instance at half of its capacity, which evicts constantly. Nothing breaks,
 * and memory, descriptors and latencies must stay flat.
 */
import { writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { machineText } from '../../../bench/machine';
import { startDurableRedis } from '../../../scripts/durable-redis';
import { writeFigures } from '../../../scripts/page-figures';
import { isOnPath } from '../../support/programs';
import type { ScenarioOutcome, RunOptions, Scenario } from '../scenario';
import { PICTURE, checksOf, reportOf } from './report';
import { type SoakSample, type Soak, type SoakOptions, soak } from './soak';

export const SOAK: Readonly<Record<string, Scenario>> = {
  soak: {
    short: 0,
    takesAll: true,
    unavailable: () => (isOnPath('redis-server') ? undefined : 'no redis-server is on the PATH'),
    run: async (options) => {
      const { write, ...outcome } = await play(options);
      return { ...outcome, write: () => write('docs') };
    },
  },
};

interface Played extends Pick<ScenarioOutcome, 'violations' | 'summary'> {
  /** Writes the figures into scaling.md of this directory, and their picture next to it. */
  readonly write: (directory: string) => void;
}

/** @param preload as in {@link SoakOptions}. */
export async function play(
  { minutes = 30, progress }: Pick<RunOptions, 'minutes' | 'progress'>,
  preload: SoakOptions['preload'] = [],
): Promise<Played> {
  const redis = await startDurableRedis();
  const onSample = (sample: SoakSample) => progress?.(describe(sample));
  const result = await soak({ redisUrl: redis.url, minutes, preload }, onSample).finally(() => redis.stop());
  const checks = checksOf(result);
  return {
    violations: checks.filter(({ passed }) => !passed).map(({ title, finding }) => `${title}: ${finding}`),
    summary: checks.map(({ title, finding }) => `${title}: ${finding}`).join('\n'),
    write: (directory) => write(result, directory),
  };
}

function write(result: Soak, directory: string): void {
  const date = new Date().toISOString().slice(0, 10);
  const load = `Load average at the end: ${loadavg()[0]!.toFixed(1)}`;
  const { text, picture } = reportOf(result, [`Of ${date}`, machineText(), load]);
  writeFigures(join(directory, 'scaling.md'), 'figures', text);
  writeFileSync(join(directory, PICTURE), picture);
}

function describe({
  minute,
  succeeded,
  heap,
  resident,
  descriptors,
  evictionsPerSecond,
}: SoakSample): string {
  const mib = (bytes: number) => (bytes / 2 ** 20).toFixed(1);
  return (
    `${minute.toFixed(1)} min: ${succeeded.count} requests, p50 ${succeeded.p50.toFixed(1)} ms, ` +
    `p99 ${succeeded.p99.toFixed(1)} ms, heap ${mib(heap)} MiB, resident ${mib(resident)} MiB, ` +
    `${descriptors} descriptors, ${Math.round(evictionsPerSecond)} evictions a second`
  );
}
