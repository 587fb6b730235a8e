/** Measures two servers in one round: starts both, compares them, stops both. */
import { startDurableRedis } from '../scripts/durable-redis';
import { type Pairs, compare } from './compare';
import { pinned } from './machine';
import { type ServerCommand, RunningServer } from './server';
import { type Target, type Conditions, ServerSession } from './session';

export interface Contestant extends Target {
  readonly name: string;
  readonly title: string;
  readonly command: ServerCommand;
  /** Whether it stores its events in a Redis that is started with it, and syncs each write to disk. */
  readonly redis?: boolean;
  /** Not part of a quick run, which must end within two minutes. */
  readonly notInQuick?: boolean;
}

/** Starts both servers, compares the first with the other, and stops them. */
export function measure(contestant: Contestant, other: Contestant, conditions: Conditions): Promise<Pairs> {
  return started(other, conditions, (beside) =>
    started(contestant, conditions, (own) => compare(own, beside, conditions)),
  ).catch((error: unknown) => {
    const which = `${contestant.name} beside ${other.name}`;
    throw new Error(`${which}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  });
}

/** Starts a server, checks that it works, and stops it after `work`, also after a failure. */
export async function started<T>(
  contestant: Contestant,
  conditions: Conditions,
  work: (session: ServerSession) => Promise<T>,
): Promise<T> {
  const { placement } = conditions;
  const redis = contestant.redis
    ? await startDurableRedis((command) => pinned(placement.redis, command).flat())
    : undefined;
  try {
    const { args, env } = contestant.command;
    const where = redis && { EVENT_STORE: 'redis', REDIS_URL: redis.url };
    const server = await RunningServer.start({ args, env: { ...env, ...where } }, placement.server);
    try {
      const session = new ServerSession(contestant, server, conditions);
      await session.prepare();
      return await work(session);
    } finally {
      await server.stop();
    }
  } finally {
    await redis?.stop();
  }
}

/**
 * Starts all of them, and stops them after `work`. Each runs only within `resumed` of its session: V8 collects garbage in a
 * server that became idle, on the core of the measured one.
 */
export function allStarted(
  [first, ...others]: readonly Contestant[],
  conditions: Conditions,
  work: (sessions: readonly ServerSession[]) => Promise<void>,
): Promise<void> {
  if (first === undefined) return work([]);
  return started(first, conditions, (session) => {
    session.pause();
    return allStarted(others, conditions, (rest) => work([session, ...rest]));
  });
}
