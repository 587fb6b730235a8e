/** Whether the millionth plant costs what the hundredth does: a user with many and users with few, in turns, in one process. */
import { type Pairs, compare, cpuRatio, rateRatio, poolRounds } from '../compare';
import type { FilledUser } from '../servers/condition';
import { type Conditions, Session } from '../session';
import { ratiosTable } from '../table';
import { startFilled } from './filled';

export async function flatness(conditions: Conditions, rounds: number, plants = 1_000_000): Promise<string> {
  const big: FilledUser = { name: 'big', plants, gone: plants / 2 };
  // A new one for each round, who has no more than his 100 when it begins.
  const small = Array.from({ length: rounds }, (_, round) => ({
    name: `small${round}`,
    plants: 100,
    gone: 0,
  }));
  const server = await startFilled([big, ...small], conditions.placement.server);
  const compared: Pairs[] = [];
  try {
    for (const [round, few] of small.entries()) {
      const sessionOf = async ({ name }: FilledUser) => {
        const asking = {
          reader: name,
          writer: name,
          remembers: true,
          bringsItsOwn: true,
          query: '?limit=100',
        };
        const session = new Session({ ...asking, firstId: (round + 1) * 1e8 }, server, conditions);
        await session.prepare();
        return session;
      };
      compared.push(await compare(await sessionOf(few), await sessionOf(big), conditions));
      console.log(`flatness, round ${round + 1} of ${rounds}`);
    }
  } finally {
    await server.stop();
  }
  // How much faster the one with few is, is how much dearer the one with many.
  const all = poolRounds(compared);
  const head = `a user with ${plants.toLocaleString('en-GB')} plants, to one with 100`;
  return ratiosTable(head, all, { time: rateRatio, processor: cpuRatio });
}
