import {
  type OpenRedisEventStore,
  type RedisOptions,
  openRedisEventStore,
} from '../../../src/adapters/redis';
import { Stream } from '../../../src/testing/a-stream';
import { plantsOf } from '../../support/given';

export interface Opened extends OpenRedisEventStore {
  /** The lines of its log, with their levels. */
  readonly log: string[];
  /** The stream of a user. */
  stream(user?: string): Stream;
}

/** Stores that are open as long as the test. Called in the body of a suite. */
export function openedPerTest(): (options: RedisOptions) => Promise<Opened> {
  const open: OpenRedisEventStore[] = [];
  afterEach(() => {
    for (const { close } of open.splice(0)) close();
  });
  return async (options) => {
    const log: string[] = [];
    const report = (level: string, message: string) => void log.push(`${level} ${message}`);
    // The time limit of a call must not matter on a busy machine.
    const opened = await openRedisEventStore({ timeoutMs: 20_000, report, ...options });
    open.push(opened);
    return { ...opened, log, stream: (user = 'alice') => new Stream(opened.store, plantsOf(user)) };
  };
}
