/** Measures of what the processor time of a request consists: of the service on Redis, of one written by hand, and of the least. */
import type { Profiler } from 'node:inspector';
import { METHODS, cpuMicroseconds } from '../compare';
import { contestantOf, least, preloading, withUsers } from '../contestants';
import { started } from '../measure';
import type { Section } from '../report';
import type { Conditions } from '../session';
import { markdown } from '../table';

/** By the name of its columns. */
const profiledServers = () => ({
  'plant-store': contestantOf('plant-store-redis'),
  'Koa and hashes': contestantOf('koa-redis'),
  'the least': least(),
});

/** Parts, each with all functions whose file matches its pattern, and none before it; or their name if they have no file. */
type FilePatterns = Readonly<Record<string, RegExp>>;

/** What has no part of its own, in the order of the table. */
export const OTHERS: FilePatterns = {
  'garbage collector': /^\(garbage collector\)$/,
  'native code outside of functions': /^/,
};

const PARTS: FilePatterns = {
  'domain and application': /plant-store\/\w+\/dist\/(domain|application)\//,
  'engine (`src/event-sourcing`)': /plant-store\/\w+\/dist\/event-sourcing\//,
  'HTTP adapter': /plant-store\/\w+\/dist\/adapters\/http\//,
  'Redis adapter': /plant-store\/\w+\/dist\/adapters\/redis\//,
  'authentication, metrics, log': /plant-store\/\w+\/dist\/|node_modules\/(pino|sonic-boom|prom-client)\//,
  'routes of the other': /bench\/dist\//,
  ioredis: /node_modules\/(@?ioredis|redis-\w+|standard-as-callback|denque)\//,
  'Koa, router, body parser and their packages': /node_modules\//,
  'HTTP in Node': /^node:(_http|internal\/http)/,
  'sockets and streams in Node': /^node:(net|stream|internal\/(streams|stream_base))/,
  'timers, ticks, buffers, events in Node': /^node:/,
  ...OTHERS,
};

/** The native function that begins and ends a profile. */
const INSPECTOR = 'dispatch';

/** @param users who take turns. */
export async function profile(given: Conditions, users = 256): Promise<Section> {
  const conditions = { ...given, warmUpSeconds: 3 * given.warmUpSeconds, seconds: 2 * given.seconds };
  const columns: string[] = [];
  const costs: ReadonlyMap<string, number>[] = [];
  for (const [name, contestant] of Object.entries(profiledServers())) {
    await started(preloading(withUsers(contestant, users), 'profiled.js'), conditions, async (session) => {
      for (const method of METHODS) {
        await session.warmUp(method);
        const whole = cpuMicroseconds(await session.slice(method)) ?? NaN;
        columns.push(`${method}, ${name}`);
        costs.push(partsOf(await session.profiled(method), whole));
        console.log(`profile of ${name}, ${method}: ${whole.toFixed(1)} µs`);
      }
    });
  }
  return { text: partsTable([`µs of processor, ${users} users`, ...columns], PARTS, costs) };
}

/** A row for each part, and one for the whole. */
export function partsTable(
  heads: readonly string[],
  parts: FilePatterns,
  costs: readonly ReadonlyMap<string, number>[],
): string {
  const rows = [...Object.keys(parts), 'all'].map((part) => [
    part,
    ...costs.map((each) => (each.get(part) ?? 0).toFixed(1)),
  ]);
  return markdown(heads, rows);
}

/** The parts of `whole`, in proportion to the time in functions of each. A native function belongs to its caller. */
export function partsOf(
  { nodes, samples, timeDeltas }: Profiler.Profile,
  whole: number,
  parts = PARTS,
): Map<string, number> {
  const partOf = new Map<number, string>();
  const idle = new Set<number>();
  const visit = (node: Profiler.ProfileNode, ofCaller: string) => {
    const { functionName, url } = node.callFrame;
    const isNative = url === '' && !functionName.startsWith('(');
    if (functionName === '(idle)' || (isNative && functionName === INSPECTOR)) idle.add(node.id);
    const own = Object.keys(parts).find((part) => parts[part]!.test(url || functionName))!;
    const part = isNative ? ofCaller : own;
    partOf.set(node.id, part);
    for (const child of node.children ?? []) visit(byId.get(child)!, part);
  };
  const byId = new Map(nodes.map((node) => [node.id, node]));
  visit(nodes[0]!, '');

  const times = new Map<string, number>();
  let all = 0;
  samples!.forEach((id, index) => {
    if (idle.has(id)) return;
    const time = timeDeltas![index]!;
    all += time;
    times.set(partOf.get(id)!, (times.get(partOf.get(id)!) ?? 0) + time);
  });
  for (const [part, time] of times) times.set(part, (time / all) * whole);
  return times.set('all', whole);
}
