/** What a list of very many plants costs: how long it holds others up, what it costs to ask again, and the memory it lives in. */
import { setTimeout as delay } from 'node:timers/promises';
import type { RunningServer } from '../server';
import type { Conditions } from '../session';
import { median } from '../statistics';
import { markdown } from '../table';
import { startFilled } from './filled';

const USER = 'big';
const AGAIN = 20;

export async function largeList({ placement }: Conditions, plants = 100_000): Promise<string> {
  const server = await startFilled([{ name: USER, plants, gone: 0 }], placement.server);
  try {
    let id = plants;
    const list = async () => read(server, '/plants');
    const write = async () => read(server, '/plants', JSON.stringify({ id: ++id, name: 'Fern' }));
    // So that it is not the compiler which is measured; and what is kept is made anew below.
    for (let count = 0; count < 5; count++) await Promise.all([write(), list()]);
    const again = await repeated(server, list);
    const behindAWrite = await repeated(server, async () => {
      await write();
      await list();
    });
    const fourAtOnce = await repeated(server, async () => {
      await Promise.all([list(), list(), write(), list(), list()]);
    });
    return markdown(
      [
        `a list of ${plants.toLocaleString('en-GB')} plants`,
        'processor, ms',
        'event loop held up, ms at most',
      ],
      [
        ['again, nothing written', ...again],
        ['behind a write, with it', ...behindAWrite],
        ['four at once, and a write', ...fourAtOnce],
      ],
    );
  } finally {
    await server.stop();
  }
}

export async function heap({ placement }: Conditions, plants = 1_000_000): Promise<string> {
  const server = await startFilled([{ name: USER, plants, gone: 0 }], placement.server, '--expose-gc');
  try {
    const { heap: events } = await server.condition();
    await read(server, '/plants?limit=100');
    const { heap: all } = await server.condition();
    const bytes = (all! - events!) / plants;
    return `At ${plants.toLocaleString('en-GB')} plants, a plant takes ${bytes.toFixed(0)} bytes of heap beyond its event in the in-memory store.`;
  } finally {
    await server.stop();
  }
}

/** Processor time of one, in ms, and for how long the event loop stood still at most. */
async function repeated(server: RunningServer, work: () => Promise<void>): Promise<[string, string]> {
  await server.condition();
  await delay(100);
  const times: number[] = [];
  const before = server.cpu();
  for (let count = 0; count < AGAIN; count++) {
    const began = performance.now();
    await work();
    times.push(performance.now() - began);
  }
  const after = server.cpu();
  const { longestDelayMs } = await server.condition();
  const each =
    before === undefined || after === undefined ? median(times) : ((after - before) * 1000) / AGAIN;
  return [each.toFixed(1), longestDelayMs.toFixed(1)];
}

async function read({ url }: RunningServer, path: string, body?: string): Promise<void> {
  const answer = await fetch(url + path, {
    headers: { Authorization: `Bearer ${USER}`, ...(body && { 'Content-Type': 'application/json' }) },
    ...(body && { method: 'POST', body }),
  });
  if (!answer.ok) throw new Error(`${path} was answered with ${answer.status}`);
  await answer.arrayBuffer();
}
