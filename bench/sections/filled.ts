import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { HEAP_FLAGS } from '../../src/adapters/system/heap';
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
  return RunningServer.start(
    { args: [...HEAP_FLAGS, ...nodeOptions, script, JSON.stringify(initialData)] },
    core,
  );
}

/** Waits until the list of a long history is answered: until then the service says when to come back. */
export async function loaded(url: string, token: string): Promise<void> {
  for (;;) {
    const answer = await fetch(url, { headers: { Authorization: `Bearer ${token}` } });
    await answer.arrayBuffer();
    if (answer.status !== 503) return;
    await delay(1000 * Number(answer.headers.get('retry-after') ?? 1));
  }
}
