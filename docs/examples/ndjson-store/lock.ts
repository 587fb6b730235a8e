import { readFile, rm, writeFile } from 'node:fs/promises';

/** Identifies this process. In a container the pid is always 1, so it includes the start time. */
const SELF = `${process.pid} ${performance.timeOrigin}`;

/**
 * Locks `path` until the returned function is called or the process ends.
 * Rejects if another process has the lock. (Node has no file locks: two processes
 * that find the lock of a dead one in the same millisecond could both take it.)
 */
export async function lock(path: string): Promise<() => Promise<void>> {
  const take = () => writeFile(path, SELF, { flag: 'wx' });
  await take().catch(async () => {
    const holder = await readFile(path, 'utf8');
    if (holder === SELF || (Number.parseInt(holder) !== process.pid && isAlive(Number.parseInt(holder)))) {
      throw new Error(
        `process ${Number.parseInt(holder)} has this store open (if it has not, delete ${path})`,
      );
    }
    await rm(path);
    await take();
  });
  return () => rm(path);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // The process of another user is alive, too.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
