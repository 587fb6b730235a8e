import { join } from 'node:path';
import { compiled } from '../../test/support/compiled';
import { RunningServer } from '../server';
import type { FilledUsers, InitialData } from '../servers/status';

/** The service with these initial users. */
export function startFilled(
  users: readonly FilledUsers[],
  core: string | undefined,
  { redis, nodeOptions = [] }: { redis?: string | undefined; nodeOptions?: readonly string[] } = {},
): Promise<RunningServer> {
  const initialData: InitialData = { service: compiled(), users, redis };
  const script = join(__dirname, '../dist/filled.js');
  return RunningServer.start({ args: [...nodeOptions, script, JSON.stringify(initialData)] }, core);
}
