import { readFileSync } from 'node:fs';
import { ServiceProcess } from '../../support/service-process';
import { tokenOf } from '../../support/token';
import type { ClientGroup } from './workload';

/** The seed of this test run, to be printed with a failure. `SEED` repeats a run. */
export const SEED = Number(process.env['SEED'] ?? Date.now() % 2 ** 32);

export const LONG = process.env['LONG'] === '1';

/** Starts the service as a separate process on this Redis, with the default configuration except for `environment`. */
export function startService(
  redisUrl: string,
  users: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<ServiceProcess> {
  return ServiceProcess.start({
    EVENT_STORE: 'redis',
    REDIS_URL: redisUrl,
    AUTH_TOKENS: users.map((user) => `${user}:${tokenOf(user)}`).join(),
    LOG_LEVEL: 'info',
    LOG_FORMAT: 'json',
    ...environment,
  });
}

/** Without snapshots, a long history takes long to load. */
export const REPLAYED = { SNAPSHOT_EVERY: '0' };

/** Probes readiness every second, like an orchestrator. */
export const READINESS: ClientGroup = {
  name: 'readiness',
  users: ['orchestrator'],
  get: ['/health/ready'],
  everyMs: 1000,
  connectionPerRequest: true,
};

/** Resident memory of a process, in bytes. */
export function residentBytes(pid: number): number {
  return 1024 * Number(/VmRSS:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]);
}
