import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Fault } from './faults';

/** More than `appendfsync everysec` may lose. */
const BEFORE_MS = 3000;

/**
 * Kills Redis, and then truncates its append-only file to the part that an fsync had confirmed: the worst possible
 * effect of a power loss at that moment. Needs strace.
 *
 * @param mayLose whether acknowledged writes may be lost.
 */
export function powerLoss(mayLose: boolean): Fault {
  return async ({ topology }, { lastsMs }) => {
    const [redis] = await topology.primaries();
    const losesSince = performance.now();
    const trace = join(redis!.directory, 'strace');
    const pid = String((await redis!.facts('INFO', 'server')).get('process_id'));
    const tracer = spawn('strace', ['-fy', '-etrace=write,fdatasync,fsync', '-p', pid, '-o', trace]);
    const traced = once(tracer, 'exit');
    await once(tracer.stderr, 'data');
    await pause(BEFORE_MS + lastsMs);
    await redis!.kill();
    await traced;
    const file = join(redis!.directory, 'appendonlydir/appendonly.aof.1.incr.aof');
    truncateSync(file, statSync(file).size - bytesUnsynced(readFileSync(trace, 'utf8')));
    await redis!.run();
    return mayLose ? { losesSince } : {};
  };
}

/** The bytes that were written after the begin of the last complete fsync. */
function bytesUnsynced(trace: string): number {
  let written = 0;
  let synced = 0;
  const begun = new Map<string, number>();
  for (const line of trace.split('\n')) {
    const [, thread, call] = /^(\d+) +(.*)$/.exec(line) ?? [];
    if (thread === undefined || call === undefined) continue;
    if (/^write\(.*incr\.aof>/.test(call)) written += Number(/= (\d+)$/.exec(call)?.[1] ?? 0);
    if (/^f(?:data)?sync\(.*incr\.aof>/.test(call)) begun.set(thread, written);
    if (/f(?:data)?sync.* = 0$/.test(call)) synced = Math.max(synced, begun.get(thread) ?? 0);
  }
  return written - synced;
}
