/**
 * `npm run soak`: loads one service at half of its capacity while it evicts constantly, and checks that memory,
 * descriptors and latencies stay flat (test/soak). Needs a redis-server on the PATH, and Linux.
 *
 *     npm run soak                        for 30 minutes
 *     npm run soak -- --minutes 5         for another time
 *     npm run soak -- --into docs         writes the figures into docs/scaling.md, and their picture next to it
 *     npm run soak -- --preload leak.cjs  with a module that the service loads first, e.g. a fault that must be found
 *
 * Exits with 1 if a check failed.
 */
import { writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { machineText } from '../bench/machine';
import { PICTURE, checksOf, reportOf } from '../test/soak/report';
import { type Sample, soak } from '../test/soak/soak';
import { startDurableRedis } from './durable-redis';
import { writeFigures } from './page-figures';

function printSample({ minute, succeeded, heap, resident, descriptors, evictionsPerSecond }: Sample): void {
  const mib = (bytes: number) => (bytes / 2 ** 20).toFixed(1);
  console.log(
    `${minute.toFixed(1)} min: ${succeeded.count} requests, p50 ${succeeded.p50.toFixed(1)} ms, ` +
      `p99 ${succeeded.p99.toFixed(1)} ms, heap ${mib(heap)} MiB, resident ${mib(resident)} MiB, ` +
      `${descriptors} descriptors, ${Math.round(evictionsPerSecond)} evictions a second`,
  );
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '30' },
      into: { type: 'string' },
      preload: { type: 'string', multiple: true, default: [] },
    },
  });
  const minutes = Number(values.minutes);
  if (!(minutes > 0.1)) throw new RangeError(`--minutes must be a number above 0.1, not ${values.minutes}`);
  const date = new Date().toISOString().slice(0, 10);
  const redis = await startDurableRedis();
  const preload = values.preload.map((file) => resolve(file));
  const result = await soak({ redisUrl: redis.url, minutes, preload }, printSample).finally(() =>
    redis.stop(),
  );
  if (values.into !== undefined) {
    const load = `Load average at the end: ${loadavg()[0]!.toFixed(1)}`;
    const { text, picture } = reportOf(result, [`Of ${date}`, machineText(), load]);
    writeFigures(join(values.into, 'scaling.md'), 'figures', text);
    writeFileSync(join(values.into, PICTURE), picture);
  }
  const checks = checksOf(result);
  for (const { title, passed, finding } of checks)
    console.log(`${passed ? 'passed' : 'FAILED'}: ${title}: ${finding}`);
  const failed = checks.filter(({ passed }) => !passed).length;
  console.log(`${checks.length - failed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}

void main();
