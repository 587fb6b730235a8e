/** Measures a very long list: how long it blocks the event loop, the cost of a repeated list, and the memory of a plant. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Section } from '../report';
import type { RunningServer } from '../server';
import type { Conditions } from '../session';
import { median } from '../statistics';
import { markdown } from '../table';
import { loaded, startFilled } from './filled';

const USER = 'big';
const AGAIN = 20;

/** Times of a long list, and the memory of plants. */
export async function largeList(
  conditions: Conditions,
  listed = 100_000,
  kept = 1_000_000,
): Promise<Section> {
  return { text: `${await times(conditions, listed)}\n\n${await heap(conditions, kept)}` };
}

async function times({ placement }: Conditions, plants: number): Promise<string> {
  const server = await startFilled([{ name: USER, plants }], placement.server);
  try {
    let id = 0;
    const list = async () => read(server, '/plants');
    const write = async () => read(server, '/plants', JSON.stringify({ id: ++id, name: 'Fern' }));
    // A warm-up, so that the figures do not contain compilation. The texts are rendered again below.
    for (let count = 0; count < 5; count++) await Promise.all([write(), list()]);
    const again = await repeated(server, list);
    const afterWrite = await repeated(server, async () => {
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
        'event loop blocked, ms at most',
      ],
      [
        ['again, nothing written', ...again],
        ['after a write, including it', ...afterWrite],
        ['four at once, and a write', ...fourAtOnce],
      ],
    );
  } finally {
    await server.stop();
  }
}

async function heap({ placement }: Conditions, plants: number): Promise<string> {
  const server = await startFilled([{ name: USER, plants }], placement.server, {
    nodeOptions: ['--expose-gc'],
  });
  try {
    const { heap: events } = await server.status();
    await loaded(`${server.url}/plants?limit=100`, USER);
    const { heap: all } = await server.status();
    const bytes = (all! - events!) / plants;
    return `At ${plants.toLocaleString('en-GB')} plants, a plant takes ${bytes.toFixed(0)} bytes of heap beyond its event in the in-memory store.`;
  } finally {
    await server.stop();
  }
}

/** Processor time of one repetition and the longest block of the event loop, in ms. */
async function repeated(server: RunningServer, work: () => Promise<void>): Promise<[string, string]> {
  await server.status();
  await delay(100);
  const times: number[] = [];
  const before = server.cpu();
  for (let count = 0; count < AGAIN; count++) {
    const began = performance.now();
    await work();
    times.push(performance.now() - began);
  }
  const after = server.cpu();
  const { longestDelayMs } = await server.status();
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
