import cluster from 'node:cluster';
import { systemClock } from '../adapters/system';

/**
 * Runs the task of this process to its end, and then ends the process with the exit code that the
 * task resolves with. The task gets a signal that is aborted at SIGINT or SIGTERM, with the name of
 * that signal as its reason. A second SIGINT or SIGTERM ends the process at once.
 */
export async function runProcess(
  task: (interrupted: AbortSignal) => Promise<number>,
): Promise<void> {
  // Without a listener a closed pipe would end the process. A failed write rejects by itself.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  const allowExit = systemClock.keepAlive();
  process.exitCode = await task(interruption());
  allowExit();
  // The process must be ended, because a store module, a preload, the channel of a cluster or a
  // call without a reply may keep it alive forever.
  await exitOnceFlushed();
}

/**
 * A second signal within this time counts as the first one, because under npm one Ctrl-C arrives
 * twice: from the terminal and from npm.
 */
const SAME_SIGNAL_MS = 500;
const POLL_MS = 100;

function interruption(): AbortSignal {
  // Every command listens, because process 1 of a container ignores signals without a listener.
  const interrupted = new AbortController();
  let since: number | undefined;
  const interrupt = (signal: NodeJS.Signals) => {
    since ??= performance.now();
    if (performance.now() - since > SAME_SIGNAL_MS) process.exit(1);
    interrupted.abort(signal);
  };
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', interrupt);
  // The primary of a cluster may end a worker without a signal. Node then closes the listener, and
  // tells the worker only once its last client has gone, which may be never.
  const { worker } = cluster;
  if (worker) {
    setInterval(
      () => worker.exitedAfterDisconnect && interrupted.abort('SIGTERM'),
      POLL_MS,
    ).unref();
    // If the primary dies, Node would end each worker at once. This pretends that the primary has
    // meant it, so that the interval above ends this worker gracefully.
    worker.once('disconnect', () => (worker.exitedAfterDisconnect = true));
  }
  return interrupted.signal;
}

/**
 * The process waits this many milliseconds for its error message to be read. The task itself has
 * waited for its result to be read, without a limit, because each command awaits its own writes.
 */
const FLUSH_MS = 1000;

async function exitOnceFlushed(): Promise<never> {
  setTimeout(() => process.exit(), FLUSH_MS);
  const flushed = (stream: NodeJS.WriteStream) =>
    new Promise((resolve) => stream.write('', () => resolve(undefined)));
  await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
  process.exit();
}
