/** Measures two servers in turns. */
import type { LoadMethod } from '../test/world/load/workload';
import type { Conditions, ServerSession, MeasuredSlice } from './session';

export const METHODS = ['GET', 'POST', 'DELETE'] as const satisfies readonly LoadMethod[];

/** One slice of a server, and the adjacent slice of the server that it is compared with. */
export interface Pair {
  readonly own: MeasuredSlice;
  readonly other: MeasuredSlice;
}

export type Pairs = Readonly<Record<LoadMethod, readonly Pair[]>>;

/**
 * Measures in turns, slice by slice: the speed of a shared machine changes
 * from minute to minute, but seldom from one second to the next.
 *
 * The warm-up consists of turns, too. A server that waited while the other one was warmed up would be slower at first.
 */
export async function compare(
  own: ServerSession,
  other: ServerSession,
  { warmUpSeconds, slices, seconds }: Conditions,
): Promise<Pairs> {
  const pairs = { GET: [], POST: [], DELETE: [] } as Record<LoadMethod, Pair[]>;
  const warmUps = Math.ceil(warmUpSeconds / seconds);
  for (const method of METHODS) {
    await own.provide(method);
    await other.provide(method);
    for (let turn = -warmUps; turn < slices; turn++) {
      // The server that is second this time is first the next time.
      const [first, second] = turn % 2 === 0 ? [own, other] : [other, own];
      const [one, two] = [await first.slice(method), await second.slice(method)];
      if (turn >= 0) pairs[method].push(first === own ? { own: one, other: two } : { own: two, other: one });
    }
  }
  return pairs;
}

/** Joins the pairs of several rounds. */
export function poolRounds(rounds: readonly Pairs[]): Pairs {
  const all = METHODS.map((method) => [method, rounds.flatMap((pairs) => pairs[method])]);
  return Object.fromEntries(all) as Record<LoadMethod, Pair[]>;
}

export function perSecond({ requests, seconds }: MeasuredSlice): number {
  return requests / seconds;
}

/** Processor time of the server per request, in µs; `undefined` if the system does not report it. */
export function cpuMicroseconds({ requests, cpuSeconds }: MeasuredSlice): number | undefined {
  return cpuSeconds && (cpuSeconds * 1e6) / requests;
}

/** Ratio of the throughputs: 1 is as fast as the other. */
export function rateRatio({ own, other }: Pair): number {
  return perSecond(own) / perSecond(other);
}

/** Ratio of the processor times per request: equals {@link rateRatio} if the processor is the only bottleneck. */
export function cpuRatio({ own, other }: Pair): number | undefined {
  const [mine, theirs] = [cpuMicroseconds(own), cpuMicroseconds(other)];
  return mine && theirs ? theirs / mine : undefined;
}
