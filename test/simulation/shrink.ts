import { type Move, SIMPLEST, type Schedule } from './schedule';

/** A simpler schedule that still fails: with fewer moves, and with the simplest settings. */
export async function shrink(
  schedule: Schedule,
  fails: (schedule: Schedule) => Promise<boolean>,
): Promise<Schedule> {
  let simplest = schedule;
  const keepIfFails = async (change: Partial<Schedule>) => {
    const simpler = { ...simplest, ...change };
    if (simpler.waitReplicas > simpler.replicas || !(await fails(simpler))) return false;
    simplest = simpler;
    return true;
  };

  for (let size = Math.ceil(schedule.moves.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let start = 0; start < simplest.moves.length;) {
      const moves: Move[] = simplest.moves.toSpliced(start, size);
      if (!(await keepIfFails({ moves }))) start += size;
    }
  }
  if (schedule.adapter) {
    await keepIfFails({ adapter: { ...schedule.adapter, timerRate: 1 } });
    await keepIfFails({ adapter: { ...simplest.adapter!, cluster: false } });
  }
  await keepIfFails({ clockRates: schedule.clockRates.map(() => 1) });
  for (const name of Object.keys(SIMPLEST) as (keyof typeof SIMPLEST)[])
    await keepIfFails({ [name]: SIMPLEST[name] });
  return simplest;
}
