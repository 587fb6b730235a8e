/**
 * Load on one server. At full speed: from wrk, or from a generator of our own where wrk is missing, on 64 connections
 * that send the next request at once after a response. At a constant rate: from our own generator.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pinned } from './machine';

export const CONNECTIONS = 64;

export type Generator = 'wrk' | 'node';
export type Method = 'GET' | 'POST' | 'DELETE';

/** `count` ids from `first` on. */
export interface Ids {
  readonly first: number;
  readonly count: number;
}

export interface Load {
  readonly method: Method;
  /** The URL of the list; that of a plant appends `/` and its id. */
  readonly url: string;
  readonly token: string;
  /** Number of users who take turns; the token of each is `token` and its number, see {@link tokenOf}. Absent: one user. */
  readonly users?: number | undefined;
  /** POST creates these one after the other, DELETE deletes them. */
  readonly ids: readonly Ids[];
  readonly seconds: number;
  /** Requests a second, at equal intervals, however slow the responses are. Absent: full speed. */
  readonly rate?: number | undefined;
}

/** The token of the user who owns the plant with this id. */
export function tokenOf(token: string, id: number, users: number | undefined): string {
  return users === undefined ? token : `${token}${id % users}`;
}

export interface Result {
  readonly requests: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly maxMs: number;
}

/** The last line that a generator prints, as JSON. */
export interface Report extends Result {
  /** Responses that report no success. */
  readonly refused: number;
  readonly unanswered: number;
  /** 1 if the ids were used up before the time had passed. */
  readonly outOfIds: number;
}

export class OutOfIds extends Error {
  override readonly name = 'OutOfIds';
}

/** Runs the load to its end. Throws if a response is missing or not a success, because the figure is void then. */
export async function run(load: Load, generator: Generator, core: string | undefined): Promise<Result> {
  const command = generator === 'wrk' && load.rate === undefined ? wrk(load) : node(load);
  const [program, args] = pinned(core, command);
  const { stdout } = await promisify(execFile)(program, args, { timeout: (load.seconds + 30) * 1000 });
  return resultOf(stdout, `${load.method} ${load.url}`);
}

/** Parses the last line of a generator's output. */
export function resultOf(output: string, what: string): Result {
  const line = output.trim().split('\n').at(-1) ?? '';
  if (!line.startsWith('{')) throw new Error(`${what}: the load generator printed no result:\n${output}`);
  const { refused, unanswered, outOfIds, ...result } = JSON.parse(line) as Report;
  if (outOfIds > 0) throw new OutOfIds(`${what}: there were too few ids`);
  if (refused + unanswered > 0) {
    const failures = `${refused} of ${result.requests} requests were refused, ${unanswered} not answered`;
    throw new Error(`${what}: ${failures}, so the figure is void`);
  }
  if (result.requests === 0) throw new Error(`${what}: nothing was answered`);
  return result;
}

/** wrk accepts only whole seconds. */
function wrk({ method, url, token, users, ids, seconds }: Load): string[] {
  const duration = `${Math.max(1, Math.round(seconds))}s`;
  const script = join(__dirname, 'wrk.lua');
  const options = ['-t1', `-c${CONNECTIONS}`, `-d${duration}`, '--timeout', '20s', '-s', script, url];
  const ranges = ids.map(({ first, count }) => `${first}:${count}`).join(',');
  return ['wrk', ...options, '--', method, token, String(users ?? 0), ranges];
}

function node(load: Load): string[] {
  const script = join(__dirname, 'generator.child.ts');
  return [process.execPath, '-r', 'ts-node/register/transpile-only', script, JSON.stringify(load)];
}
