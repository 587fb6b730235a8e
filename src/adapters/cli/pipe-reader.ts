import { spawn } from 'node:child_process';
import { fstatSync } from 'node:fs';

/**
 * The signal is aborted when the reader of standard output closes the pipe.
 *
 * Node notices that only at the next write, which may never come. GNU tail polls its output, and ends with SIGPIPE; so
 * one runs beside the command. Without GNU tail the signal is never aborted, and the next write fails with EPIPE.
 */
export function untilUnread(): AbortSignal {
  const unread = new AbortController();
  if (!fstatSync(1).isFIFO()) return unread.signal;
  const args = ['--pid', String(process.pid), '--sleep-interval', '0.2', '--follow', '/dev/null'];
  const tail = spawn('tail', args, { stdio: ['ignore', 'inherit', 'ignore'] });
  tail.on('error', () => {});
  tail.on('exit', (_, signal) => signal === 'SIGPIPE' && unread.abort());
  tail.unref();
  process.once('exit', () => tail.kill());
  return unread.signal;
}
