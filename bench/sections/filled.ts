import { join } from 'node:path';
import { compiled } from '../../test/support/compiled';
import { RunningServer } from '../server';
import type { FilledUser, InitialData } from '../servers/status';

/** The service in memory, with these initial users. Their names are their tokens. */
export function startFilled(
  users: readonly FilledUser[],
  core: string | undefined,
  ...nodeOptions: string[]
): Promise<RunningServer> {
  const initialData: InitialData = { service: compiled(), users };
  const script = join(__dirname, '../dist/filled.js');
  return RunningServer.start({ args: [...nodeOptions, script, JSON.stringify(initialData)] }, core);
}
