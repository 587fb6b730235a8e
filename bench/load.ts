/**
 * Load on one server. At full speed: from wrk, or from a generator of our own where wrk is missing, on 64 connections
 * that send the next request at once after a response. At a constant rate: from our own generator.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { LoadGenerator } from '../test/world/load/generator';
import type { ClientGroup, Histogram, IdRange, LoadMethod } from '../test/world/load/workload';
import { pinned } from './machine';

export const CONNECTIONS = 64;

export type Generator = 'wrk' | 'node';
/** Most open connections at a constant rate. */
const MAX_OPEN = 512;

export interface ServerLoad {
  readonly method: LoadMethod;
  /** The URL of the list; that of a plant appends `/` and its id. */
  readonly url: string;
  readonly token: string;
  /** Number of users who take turns; the token of each is `token` and its number, see {@link tokenOf}. Absent: one user. */
  readonly users?: number | undefined;
  /** POST creates these one after the other, DELETE deletes them. */
  readonly ids: readonly IdRange[];
  readonly seconds: number;
  /** Requests a second, at equal intervals, however slow the responses are. Absent: full speed. */
  readonly rate?: number | undefined;
  /**
   * Responses of this time at a constant rate are not counted: the generator is compiled and opens its connections, and
   * the requests that came due meanwhile must be answered.
   */
  readonly settleSeconds: number;
}

/** The token of the user who owns the plant with this id. */
export function tokenOf(token: string, id: number, users: number | undefined): string {
  return users === undefined ? token : `${token}${id % users}`;
}

export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly maxMs: number;
  /** Absent from wrk. */
  readonly histogram?: Histogram;
}

/** The result and what makes it void; wrk prints it as JSON in its last line. */
export interface LoadReport extends LoadResult {
  /** Responses that report no success. */
  readonly refused: number;
  readonly unanswered: number;
  /** 1 if the ids were used up before the time had passed. */
  readonly outOfIds: number;
}

export class OutOfIds extends Error {
  override readonly name = 'OutOfIds';
}

/** A response was missing or not a success, so the figure says nothing. */
export class VoidFigure extends Error {
  override readonly name = 'VoidFigure';
}

/** Runs the load to its end. Throws {@link VoidFigure}. */
export async function run(
  load: ServerLoad,
  generator: Generator,
  core: string | undefined,
): Promise<LoadResult> {
  const what = `${load.method} ${load.url}`;
  if (generator === 'node' || load.rate !== undefined) return validated(await played(load, core), what);
  const [program, args] = pinned(core, wrk(load));
  const { stdout } = await promisify(execFile)(program, args, { timeout: (load.seconds + 30) * 1000 });
  return resultOf(stdout, what);
}

/** Parses the last line that wrk prints. */
export function resultOf(output: string, what: string): LoadResult {
  const line = output.trim().split('\n').at(-1) ?? '';
  if (!line.startsWith('{')) throw new Error(`${what}: the load generator printed no result:\n${output}`);
  return validated(JSON.parse(line) as LoadReport, what);
}

function validated({ refused, unanswered, outOfIds, ...result }: LoadReport, what: string): LoadResult {
  if (outOfIds > 0) throw new OutOfIds(`${what}: there were too few ids`);
  if (refused + unanswered > 0) {
    const failures = `${refused} of ${result.requests} requests were refused, ${unanswered} not answered`;
    throw new VoidFigure(`${what}: ${failures}, so the figure is void`);
  }
  if (result.requests === 0) throw new Error(`${what}: nothing was answered`);
  return result;
}

async function played(load: ServerLoad, core: string | undefined): Promise<LoadReport> {
  const { method, url, token, users = 1, seconds, rate, settleSeconds } = load;
  const warmUpMs = rate === undefined ? 0 : settleSeconds * 1000;
  const { pathname, search } = new URL(url);
  // A list has no id: these give each user its turn.
  const ids = method === 'GET' ? [{ first: 0, count: 1e15 }] : load.ids;
  const group: ClientGroup = {
    name: 'load',
    users: load.users === undefined ? [''] : Array.from({ length: users }, (_, user) => String(user)),
    tokens: token,
    each: { method, target: pathname + search, ids },
    warmUpMs,
    ...(rate === undefined ? { clients: CONNECTIONS } : { rate: { perSecond: rate, connections: MAX_OPEN } }),
  };
  const generator = await LoadGenerator.start(core);
  try {
    const workload = { url, seed: 0, endsAfterMs: seconds * 1000 + warmUpMs, groups: [group] };
    const { tookMs, groups } = await generator.play(workload);
    const { requests, failures, succeeded, failed, histogram } = groups['load']!;
    return {
      ...{ requests, seconds: tookMs / 1000, refused: failed.count, unanswered: failures - failed.count },
      outOfIds: Number(requests >= ids.reduce((sum, { count }) => sum + count, 0)),
      ...{ p50Ms: succeeded.p50, p99Ms: succeeded.p99, p999Ms: succeeded.p999, maxMs: succeeded.max },
      histogram,
    };
  } finally {
    await generator.stop();
  }
}

/** wrk accepts only whole seconds. */
function wrk({ method, url, token, users, ids, seconds }: ServerLoad): string[] {
  const duration = `${Math.max(1, Math.round(seconds))}s`;
  const script = join(__dirname, 'wrk.lua');
  const options = ['-t1', `-c${CONNECTIONS}`, `-d${duration}`, '--timeout', '20s', '-s', script, url];
  const ranges = ids.map(({ first, count }) => `${first}:${count}`).join(',');
  return ['wrk', ...options, '--', method, token, String(users ?? 0), ranges];
}
