/** Compares the service on Redis with the same service written by hand, on a Redis hash of each user, in turns. */
import { METHODS, type Pairs, cpuMicroseconds, cpuRatio, poolRounds } from '../compare';
import { contestants, withUsers } from '../contestants';
import { type Contestant, measure } from '../measure';
import type { Section } from '../report';
import type { Conditions } from '../session';
import { spread } from '../statistics';
import { markdown, ratioText } from '../table';

const [OURS, PEERS] = ['plant-store-redis', ['koa-redis', 'fastify-redis']];

/** @param users numbers of users who take turns. */
export async function peers(conditions: Conditions, rounds: number, users = [1, 256]): Promise<Section> {
  const named = (name: string) => contestants().find((each) => each.name === name)!;
  const rows: string[][] = [];
  for (const peer of PEERS.map(named)) {
    for (const count of users) {
      const of = (contestant: Contestant) => (count === 1 ? contestant : withUsers(contestant, count));
      const compared: Pairs[] = [];
      for (let round = 1; round <= rounds; round++)
        compared.push(await measure(of(named(OURS)), of(peer), conditions));
      rows.push(row(`${peer.title}, ${count === 1 ? 'one user' : `${count} users`}`, poolRounds(compared)));
      console.log(rows.at(-1)!.join('  '));
    }
  }
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
