/** Load from wrk or autocannon: 64 connections that send the next request at once after a response. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pinned } from './machine';
import { CONNECTIONS, type Load } from './servers/load';

export { CONNECTIONS, type Ids, type Load, type Method } from './servers/load';

export type Generator = 'wrk' | 'autocannon';

export interface Result {
  readonly requests: number;
  readonly seconds: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

interface Failures {
  readonly refused: number;
  readonly unanswered: number;
  readonly outOfIds: number;
}

/** The ids were used up before the time had passed. */
export class OutOfIds extends Error {
  override readonly name = 'OutOfIds';
}

/** Runs the load to its end. Throws if a response is missing or not a success, because the figure is void then. */
export async function run(load: Load, generator: Generator, core: string | undefined): Promise<Result> {
  const [program, args] = pinned(core, generator === 'wrk' ? wrk(load) : autocannon(load));
  const { stdout } = await promisify(execFile)(program, args, { timeout: (load.seconds + 30) * 1000 });
  return resultOf(stdout, `${load.method} ${load.url}`);
}

/** Parses the last line of a generator's output, one line of JSON. */
export function resultOf(output: string, what: string): Result {
  const line = output.trim().split('\n').at(-1) ?? '';
  if (!line.startsWith('{')) throw new Error(`${what}: the load generator printed no result:\n${output}`);
  const { refused, unanswered, outOfIds, ...result } = JSON.parse(line) as Result & Failures;
  if (outOfIds > 0) throw new OutOfIds(`${what}: there were too few ids`);
  if (refused + unanswered > 0) {
    const failures = `${refused} of ${result.requests} requests were refused, ${unanswered} not answered`;
    throw new Error(`${what}: ${failures}, so the figure is void`);
  }
  if (result.requests === 0) throw new Error(`${what}: nothing was answered`);
  return result;
}

/** wrk accepts only whole seconds. */
function wrk({ method, url, token, ids, seconds }: Load): string[] {
  const duration = `${Math.max(1, Math.round(seconds))}s`;
  const script = join(__dirname, 'wrk.lua');
  const options = ['-t1', `-c${CONNECTIONS}`, `-d${duration}`, '--timeout', '20s', '-s', script, url];
  return [
    'wrk',
    ...options,
    '--',
    method,
    token,
    ids.map(({ first, count }) => `${first}:${count}`).join(','),
  ];
}

function autocannon(load: Load): string[] {
  return [process.execPath, join(__dirname, 'dist/autocannon.js'), JSON.stringify(load)];
}
