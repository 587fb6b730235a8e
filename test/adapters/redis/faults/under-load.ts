import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import type { Redis } from 'ioredis';
import { audit, storedEvents } from '../../../support/audit';
import { Client, untilServed } from '../../../support/client';
import { type Instance, startInstance } from '../../../support/instance';
import { Load, type Operation } from '../../../support/load';

/** Short, for tests that wait for it to pass. */
export const STORE_TIMEOUT_MS = 500;
/** For tests in which it must not. */
export const PATIENT_MS = 2000;
/** Within how long every request must be answered, whatever is broken. */
export const ANSWERED_WITHIN_MS = STORE_TIMEOUT_MS + 1000;
/** Within how long of Redis being back the service must serve. */
export const SERVES_WITHIN_MS = 2000;
/** The same on a machine that is busy with other things. */
export const SERVES_AT_LATEST_MS = 2 * SERVES_WITHIN_MS;
/** For what may become of a write that was told unknown, or a connection that was lost. */
export const A_WHILE_MS = 500;

const USERS = ['alice', 'bob'];

export interface UnderLoad {
  /** `admin` looks into what is stored. */
  readonly redis: { readonly url: string; readonly admin: Pick<Redis, 'xrange'> };
  /** Where the service finds it, if not there. */
  readonly redisUrl?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly seed?: number;
}

/**
 * Two instances serve several clients while `faults` happen. Then all that the
 * clients were told is held against what Redis has: nothing acknowledged is
 * lost, nothing is recorded twice, no refused write ever appears, every list is
 * true and current. And nobody waited too long.
 */
export async function underLoad(
  { redis, redisUrl = redis.url, environment = {}, seed = Date.now() }: UnderLoad,
  faults: (instances: readonly Instance[]) => Promise<void>,
): Promise<readonly Operation[]> {
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
  // With the instances' connections gone, whatever they sent has its turn now, or never.
  await pause(20);
  for (const user of USERS) {
    const events = await storedEvents(redis.admin, `plant-store:{${user}}:events`);
    const complaints = audit(
      load.operations.filter((operation) => operation.user === user),
      events,
    );
    expect(complaints, `seed ${seed}`).to.deep.equal([]);
  }
  const slowest = Math.max(...load.operations.map(({ answer }) => answer.took));
  expect(slowest, 'the slowest answer, in ms').to.be.below(ANSWERED_WITHIN_MS);
  return load.operations;
}

/** How long it takes until every instance serves a write again, in ms. Asked by a user of its own. */
export async function untilAllServe(instances: readonly Instance[]): Promise<number> {
  const took = instances.map(({ url }) => {
    const carol = new Client(url, 'carol');
    return untilServed(() => carol.create(randomInt(2 ** 47), 'Fern'));
  });
  return Math.max(...(await Promise.all(took)));
}

/** How many operations were answered by each error number, or by the status where there is none. */
export function tally(operations: readonly Operation[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { answer } of operations) {
    const number = answer.error ?? answer.status;
    counts[number] = (counts[number] ?? 0) + 1;
  }
  return counts;
}
