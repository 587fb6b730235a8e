import { constants, openSync, writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import { LogDestination } from './log-destination';

/** How long the end of the process waits for a slow reader. */
const EXIT_MS = 1000;

let opened: LogDestination | undefined;

/** Standard output of this process, flushed when the process exits. */
export function standardOutput(): LogDestination {
  if (opened === undefined) {
    const fd = nonBlocking(process.stdout.fd);
    opened = new LogDestination({ write: (bytes) => writeSync(fd, bytes) });
    process.once('exit', () => opened!.close(EXIT_MS));
  }
  return opened;
}

/**
 * A descriptor that writes to the file of `fd` without blocking. Node makes a pipe or a socket non-blocking when it
 * opens process.stdout; a file accepts every write. A terminal stays blocking: it is opened a second time, because other
 * processes share the first descriptor. Returns `fd` if that is not possible, as on systems other than Linux.
 *
 * A write in another thread does not block the event loop either, but a thread that is blocked by a paused terminal
 * keeps the process from exiting.
 */
function nonBlocking(fd: number): number {
  if (!isatty(fd)) return fd;
  try {
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NOCTTY | constants.O_NONBLOCK);
  } catch {
    return fd;
  }
}
