/**
 * Compares the service on Redis with the same service written by hand, on a Redis hash of each user, and the service in
 * memory with a framework that sends fixed answers; or the service with an earlier version. In turns.
 */
import { METHODS, type Pairs, cpuMicroseconds, cpuRatio, poolRounds } from '../compare';
import { contestantOf, least, withUsers } from '../contestants';
import { type Contestant, measure } from '../measure';
import type { Section } from '../report';
import type { Conditions } from '../session';
import { spread } from '../statistics';
import { markdown, ratioText } from '../table';

const PEERS = ['koa-redis', 'fastify-redis'];

/** What a table of ratios compares: a title, the service, and what is measured beside it. */
type Comparison = readonly [title: string, ours: Contestant, other: Contestant];

/** @param users numbers of users who take turns. */
export async function peers(conditions: Conditions, rounds: number, users = [1, 256]): Promise<Section> {
  const ours = contestantOf('plant-store-redis');
  const fixed = contestantOf('koa-fixed');
  const all = PEERS.map(contestantOf);
  const tables = [
    await processorTimes(conditions, rounds, [
      ...all.flatMap((peer) => byUsers(peer.title, ours, peer, users)),
      [`${fixed.title}, and plant-store in memory`, contestantOf('plant-store'), fixed],
    ]),
    // Only with many users each write is an append of its own.
    await processorTimes(
      conditions,
      rounds,
      all.flatMap((peer) =>
        byUsers(`the least, compared with ${peer.title}`, least(), peer, users.slice(-1)),
      ),
      'the least',
    ),
  ];
  return { text: tables.map(({ text }) => text).join('\n\n') };
}

/**
 * Compares the service with an earlier version of it.
 *
 * @param main the compiled main script of that version.
 */
export function earlier(
  main: string,
  conditions: Conditions,
  rounds: number,
  users = [1, 256],
): Promise<Section> {
  const comparisons = ['plant-store', 'plant-store-redis'].map(contestantOf).flatMap((ours) => {
    const command = { ...ours.command, args: [main] };
    return byUsers(`earlier ${ours.title}`, ours, { ...ours, command }, users);
  });
  return processorTimes(conditions, rounds, comparisons);
}

function byUsers(title: string, ours: Contestant, other: Contestant, users: readonly number[]): Comparison[] {
  return users.map((count) => {
    const of = (contestant: Contestant) => (count === 1 ? contestant : withUsers(contestant, count));
    return [`${title}, ${count === 1 ? 'one user' : `${count} users`}`, of(ours), of(other)];
  });
}

async function processorTimes(
  given: Conditions,
  rounds: number,
  comparisons: readonly Comparison[],
  name = 'plant-store',
): Promise<Section> {
  // The larger program takes longer to be compiled, and a DELETE costs more in the first seconds after a pause.
  const conditions = { ...given, warmUpSeconds: 3 * given.warmUpSeconds, slices: 2 * given.slices };
  const rows: string[][] = [];
  for (const [title, ours, other] of comparisons) {
    const compared: Pairs[] = [];
    for (let round = 1; round <= rounds; round++) compared.push(await measure(ours, other, conditions));
    rows.push(row(title, poolRounds(compared)));
    console.log(rows.at(-1)!.join('  '));
  }
  const heads = METHODS.map((method) => `${method}: ratio, µs of ${name} and of the other`);
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
