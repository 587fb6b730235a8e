/** Whether the millionth plant costs what the hundredth does: a user with many and users with few, in turns, in one process. */
import type { FilledUser } from '../servers/condition';
import { type Conditions, type Figures, Session } from '../session';
import { spread } from '../statistics';
import { METHODS, cpuRatio, markdown, ratioText } from '../table';
import { startFilled } from './filled';

export async function flatness(conditions: Conditions, rounds: number, plants = 1_000_000): Promise<string> {
  const big: FilledUser = { name: 'big', plants, gone: plants / 2 };
  // One for each round: what one is given in a round does not count in the next.
  const small = Array.from({ length: rounds }, (_, round) => ({
    name: `small${round}`,
    plants: 100,
    gone: 0,
  }));
  const server = await startFilled([big, ...small], conditions.placement.server);
  const pairs: { big: Figures; small: Figures }[] = [];
  try {
    for (const [round, user] of small.entries()) {
      const figures = async ({ name }: FilledUser) => {
        const asking = {
          reader: name,
          writer: name,
          remembers: true,
          bringsItsOwn: true,
          query: '?limit=100',
        };
        return new Session({ ...asking, firstId: (round + 1) * 1e8 }, server, conditions).figures();
      };
      // In turns: whoever comes second in a process finds it warmer.
      const [first, second] = round % 2 === 0 ? [user, big] : [big, user];
      const [one, other] = [await figures(first), await figures(second)];
      pairs.push(first === big ? { big: one, small: other } : { big: other, small: one });
      console.log(`flatness, round ${round + 1} of ${rounds}`);
    }
  } finally {
    await server.stop();
  }
  const rows = METHODS.map((method) => {
    const rate = spread(pairs.map(({ big, small }) => small[method].perSecond / big[method].perSecond));
    const times = pairs.map(({ big, small }) => cpuRatio(small[method], big[method]));
    const cpu = times.filter((ratio) => ratio !== undefined);
    return [
      method === 'GET' ? 'GET ?limit=100' : method,
      ratioText(rate, rounds),
      cpu.length > 0 ? ratioText(spread(cpu), rounds) : '–',
    ];
  });
  const head = `a user with ${plants.toLocaleString('en-GB')} plants, to one with 100`;
  return markdown([head, 'time', 'processor'], rows);
}
