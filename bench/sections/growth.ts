/** Measures the processor time of a request as users and plants grow, in memory and on Redis. */
import { startDurableRedis } from '../../scripts/durable-redis';
import { METHODS, cpuMicroseconds } from '../compare';
import type { LoadMethod } from '../../test/world/load/workload';
import { tokenOf } from '../load';
import { has, pinned } from '../machine';
import { type Panel, plot } from '../plot';
import type { Section } from '../report';
import type { RunningServer } from '../server';
import type { FilledUsers } from '../servers/status';
import { type Conditions, ServerSession } from '../session';
import { median } from '../statistics';
import { markdown, thousands } from '../table';
import { loaded, startFilled } from './filled';

/** Numbers of users who take turns, and plants of each. */
const USERS = [1, 10, 100, 1_000, 10_000];
const PLANTS_EACH = 20;
/** Numbers of plants of a single user. */
const PLANTS = [100, 1_000, 10_000, 100_000, 1_000_000];

type By = 'users' | 'plants';
type Costs = Readonly<Record<LoadMethod, number>>;
interface Curves {
  readonly title: string;
  readonly users: readonly Costs[];
  readonly plants: readonly Costs[];
}

export async function growth(given: Conditions, users = USERS, plants = PLANTS): Promise<Section> {
  // There are twenty groups.
  const conditions = { ...given, warmUpSeconds: given.warmUpSeconds / 2 };
  const ofUsers = users.map((count): FilledUsers => ({
    name: `of${count}-`,
    users: count,
    plants: PLANTS_EACH,
  }));
  const ofPlants = plants.map((count): FilledUsers => ({ name: `has${count}`, plants: count }));
  const curves: Curves[] = [];
  for (const title of ['in memory', ...(has('redis-server') ? ['on Redis'] : [])]) {
    const redis =
      title === 'on Redis'
        ? await startDurableRedis((command) => pinned(conditions.placement.redis, command).flat())
        : undefined;
    try {
      const all = [...ofUsers, ...ofPlants];
      const server = await startFilled(all, conditions.placement.server, { redis: redis?.url });
      try {
        const costs = await costsOf(server, all, conditions);
        curves.push({ title, users: costs.slice(0, users.length), plants: costs.slice(users.length) });
      } finally {
        await server.stop();
      }
    } finally {
      await redis?.stop();
    }
  }
  const byUsers = partOf('users', `users, of ${PLANTS_EACH} plants each`, users, curves);
  const byPlants = partOf('plants', 'plants of one user', plants, curves);
  return {
    text: `${byUsers.text}\n\n${byPlants.text}`,
    files: { ...byUsers.files, ...byPlants.files },
  };
}

function partOf(by: By, head: string, counts: readonly number[], curves: readonly Curves[]): Section {
  const title = `Processor time of a request in µs, by the number of ${head}`;
  const picture = `benchmark-${by}.svg`;
  return {
    text: `![${title}](${picture})\n\n${table(by, head, counts, curves)}`,
    files: { [picture]: plot(title, counts.map(thousands), panels(by, curves)) },
  };
}

/** The median cost of each group, measured in turns: a process becomes faster in its first minutes. */
async function costsOf(
  server: RunningServer,
  groups: readonly FilledUsers[],
  conditions: Conditions,
): Promise<Costs[]> {
  const sessions: ServerSession[] = [];
  for (const group of groups) sessions.push(await sessionOf(server, group, conditions));
  const costs = groups.map((): Record<LoadMethod, number> => ({ GET: NaN, POST: NaN, DELETE: NaN }));
  for (const method of METHODS) {
    const slices = sessions.map((): number[] => []);
    for (const session of sessions) await session.warmUp(method);
    for (let count = 0; count < conditions.slices; count++)
      for (const [index, session] of sessions.entries())
        slices[index]!.push(cpuMicroseconds(await session.slice(method)) ?? NaN);
    costs.forEach((each, index) => (each[method] = median(slices[index]!)));
    console.log(`cost of ${method}: ${costs.map((each) => each[method].toFixed(1)).join(', ')} µs`);
  }
  return costs;
}

/** The session of a group, whose plants are in memory. */
async function sessionOf(
  server: RunningServer,
  { name, users, plants }: FilledUsers,
  conditions: Conditions,
): Promise<ServerSession> {
  const query = '?limit=100';
  const target = {
    reader: name,
    writer: name,
    users,
    remembers: true,
    hasInitialPlants: true,
    query,
    listed: Math.min(100, plants),
  };
  const session = new ServerSession({ ...target, firstId: 1 }, server, conditions);
  await loaded(`${server.url}/plants${query}`, tokenOf(name, 1, users));
  await session.prepare();
  for (let requests = 0; requests <= (users ?? 1);) requests += (await session.slice('GET')).requests;
  return session;
}

function table(by: By, head: string, counts: readonly number[], curves: readonly Curves[]): string {
  const columns = curves.flatMap(({ title }) => METHODS.map((method) => `${method} ${title}, µs`));
  const rows = counts.map((count, index) => [
    thousands(count),
    ...curves.flatMap((curve) => METHODS.map((method) => curve[by][index]![method].toFixed(1))),
  ]);
  return markdown([head, ...columns], rows);
}

function panels(by: By, curves: readonly Curves[]): Panel[] {
  return METHODS.map((method) => ({
    title: method,
    lines: curves.map((curve) => ({ title: curve.title, values: curve[by].map((costs) => costs[method]) })),
  }));
}
