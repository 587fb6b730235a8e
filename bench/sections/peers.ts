/**
 * Compares the service on Redis with the same service written by hand, on a Redis hash of each user, and the service in
 * memory with a framework that sends fixed answers. In turns.
 */
import { METHODS, type Pairs, cpuMicroseconds, cpuRatio, poolRounds } from '../compare';
import { contestantOf, withUsers } from '../contestants';
import { type Contestant, measure } from '../measure';
import type { Section } from '../report';
import type { Conditions } from '../session';
import { spread } from '../statistics';
import { markdown, ratioText } from '../table';

const PEERS = ['koa-redis', 'fastify-redis'];

/** @param users numbers of users who take turns. */
export async function peers(given: Conditions, rounds: number, users = [1, 256]): Promise<Section> {
  // The larger program takes longer to be compiled.
  const conditions = { ...given, warmUpSeconds: 3 * given.warmUpSeconds };
  const rows: string[][] = [];
  const add = async (title: string, ours: Contestant, peer: Contestant) => {
    const compared: Pairs[] = [];
    for (let round = 1; round <= rounds; round++) compared.push(await measure(ours, peer, conditions));
    rows.push(row(title, poolRounds(compared)));
    console.log(rows.at(-1)!.join('  '));
  };
  for (const peer of PEERS.map(contestantOf)) {
    for (const count of users) {
      const of = (contestant: Contestant) => (count === 1 ? contestant : withUsers(contestant, count));
      const title = `${peer.title}, ${count === 1 ? 'one user' : `${count} users`}`;
      await add(title, of(contestantOf('plant-store-redis')), of(peer));
    }
  }
  const fixed = contestantOf('koa-fixed');
  await add(`${fixed.title}, and plant-store in memory`, contestantOf('plant-store'), fixed);
  const heads = METHODS.map((method) => `${method}: ratio, µs of plant-store and of the other`);
  return { text: markdown(['processor time, compared with', ...heads], rows) };
}

function row(title: string, pairs: Pairs): string[] {
  const cells = METHODS.map((method) => {
    const median = (which: 'own' | 'other') =>
      spread(pairs[method].map((pair) => cpuMicroseconds(pair[which])))?.median.toFixed(1) ?? '–';
    return `${ratioText(spread(pairs[method].map(cpuRatio)))}, ${median('own')}, ${median('other')}`;
  });
  return [title, ...cells];
}
