import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import type { Redis } from 'ioredis';
import { Client, servedInTime } from '../../../support/client';
import { type Instance, startInstance } from '../../../support/instance';
import { linearizationProblem } from '../../../support/linearizability';
import { Load, type LoadRequest, operationsOf } from '../../../support/load';
import { patient } from '../../../support/patience';
import { storedEvents } from '../../../support/stored-events';

/** A short timeout, for tests that wait until it expires. */
export const STORE_TIMEOUT_MS = 500;
/** A timeout that must not expire. */
export const PATIENT_MS = 20_000;
/** Answers that do not wait for that timeout take less, even on a busy machine. */
export const AT_ONCE_MS = PATIENT_MS / 4;
/** Every request must be answered within this time, during any fault. */
export const ANSWERED_WITHIN_MS = STORE_TIMEOUT_MS + 1000;
/** Time until the outcome of an unknown write, or of a lost connection, is settled. */
export const A_WHILE_MS = 500;

const USERS = ['alice', 'bob'];

export interface UnderLoad {
  /** `admin` reads the stored events. */
  readonly redis: { readonly url: string; readonly admin: Pick<Redis, 'xrange'> };
  /** The address for the service, if different. */
  readonly redisUrl?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly seed?: number;
}

/**
 * Two instances serve several clients while `faults` happen. Then all answers are
 * compared with the stored events: no acknowledged write is lost, nothing is
 * recorded twice, no refused write appears, and all reads are linearizable. Every
 * request was answered in time.
 */
export async function underLoad(
  { redis, redisUrl = redis.url, environment = {}, seed = Date.now() }: UnderLoad,
  faults: (instances: readonly Instance[]) => Promise<void>,
): Promise<readonly LoadRequest[]> {
  const start = () =>
    startInstance({ REDIS_URL: redisUrl, STORE_TIMEOUT_MS: String(STORE_TIMEOUT_MS), ...environment });
  const instances = await Promise.all([start(), start()]);
  const load = new Load({ urls: instances.map(({ url }) => url), users: USERS, seed });
  try {
    await faults(instances);
  } finally {
    await load.stop();
    await Promise.all(instances.map((instance) => instance.stop()));
  }
  // The instances' connections are closed: commands in flight are executed now, or never.
  await pause(20);
  for (const user of USERS) {
    const events = await storedEvents(redis.admin, `plant-store:{${user}}:events`);
    const operations = operationsOf(load.requests.filter((request) => request.user === user));
    expect(linearizationProblem(operations, events), `seed ${seed}`).to.equal(undefined);
  }
  const slowest = Math.max(...load.requests.map(({ response }) => response.took));
  expect(slowest, 'the slowest answer, in ms').to.be.below(patient(ANSWERED_WITHIN_MS));
  return load.requests;
}

/** Asserts that every instance serves a write in time, for a separate user. */
export async function allServeInTime(instances: readonly Instance[], when = ''): Promise<void> {
  await Promise.all(
    instances.map(({ url }) => {
      const carol = new Client(url, 'carol');
      return servedInTime(() => carol.create(randomInt(2 ** 47), 'Fern'), when);
    }),
  );
}

/** Resolves when every instance has refused a list with 50300. */
export async function allRefuse(instances: readonly Instance[]): Promise<void> {
  await Promise.all(
    instances.map(async ({ url }) => {
      const carol = new Client(url, 'carol');
      while ((await carol.list()).error !== 50300) await pause(10);
    }),
  );
}

/** How many requests got each error number, or the status where there is none. */
export function tally(requests: readonly LoadRequest[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { response } of requests) {
    const number = response.error ?? response.status;
    counts[number] = (counts[number] ?? 0) + 1;
  }
  return counts;
}
