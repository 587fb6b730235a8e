/** Compares a user with many plants with users with few, in turns, in one process. */
import { type Pairs, compare, cpuRatio, rateRatio, poolRounds } from '../compare';
import type { FilledUser } from '../servers/status';
import { type Conditions, Session } from '../session';
import { ratiosTable } from '../table';
import { startFilled } from './filled';

export async function flatness(conditions: Conditions, rounds: number, plants = 1_000_000): Promise<string> {
  const big: FilledUser = { name: 'big', plants, deleted: plants / 2 };
  // A new user for each round, so that it has only 100 plants at the start.
  const small = Array.from({ length: rounds }, (_, round) => ({
    name: `small${round}`,
    plants: 100,
    deleted: 0,
  }));
  const server = await startFilled([big, ...small], conditions.placement.server);
  const compared: Pairs[] = [];
  try {
    for (const [round, few] of small.entries()) {
      const sessionOf = async ({ name }: FilledUser) => {
        const target = {
          reader: name,
          writer: name,
          remembers: true,
          hasInitialPlants: true,
          query: '?limit=100',
        };
        const session = new Session({ ...target, firstId: (round + 1) * 1e8 }, server, conditions);
        await session.prepare();
        return session;
      };
      compared.push(await compare(await sessionOf(few), await sessionOf(big), conditions));
      console.log(`flatness, round ${round + 1} of ${rounds}`);
    }
  } finally {
    await server.stop();
  }
  // The ratio by which the user with few plants is faster is the ratio of the costs.
  const all = poolRounds(compared);
  const head = `a user with ${plants.toLocaleString('en-GB')} plants, to one with 100`;
  return ratiosTable(head, all, { time: rateRatio, processor: cpuRatio });
}
