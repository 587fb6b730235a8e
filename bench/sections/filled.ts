import { join } from 'node:path';
import { compiled } from '../../test/support/compiled';
import { RunningServer } from '../server';
import type { FilledUser, Filling } from '../servers/condition';

/** The service in memory, with these users from the beginning; their names are their tokens. */
export function startFilled(
  users: readonly FilledUser[],
  core: string | undefined,
  ...nodeOptions: string[]
): Promise<RunningServer> {
  const filling: Filling = { service: compiled(), users };
  const script = join(__dirname, '../dist/filled.js');
  return RunningServer.start({ args: [...nodeOptions, script, JSON.stringify(filling)] }, core);
}
