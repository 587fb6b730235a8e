import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fstatSync } from 'node:fs';

/**
 * Resolves when the reader of standard output has closed the pipe. Node would notice that only at
 * the next write, which may never come. GNU tail polls its output and ends with SIGPIPE, so one
 * runs beside the command. Without GNU tail the promise never settles, and the next write fails
 * with EPIPE.
 */
export async function readerGone(): Promise<void> {
  const never = new Promise<never>(() => {});
  if (!fstatSync(1).isFIFO()) return never;
  const args = ['--pid', String(process.pid), '--sleep-interval', '0.2', '--follow', '/dev/null'];
  const tail = spawn('tail', args, { stdio: ['ignore', 'inherit', 'ignore'] });
  process.once('exit', () => tail.kill());
  const [, signal] = await once(tail, 'exit').catch(() => []);
  return signal === 'SIGPIPE' ? undefined : never;
}
