import { readFile, rm, writeFile } from 'node:fs/promises';

/** This process, told from an earlier one that had the same number (in a container it is always 1). */
const SELF = `${process.pid} ${performance.timeOrigin}`;

/**
 * Holds `path` until the returned function is called or the process ends.
 * Rejects where another one holds it. (Node has no file locks: two processes
 * that find a dead one's lock in the same millisecond could both take it over.)
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
    // Somebody else's process is alive too.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
