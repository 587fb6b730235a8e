import { readlink, realpath } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/**
 * Returns the path of the file at the end of the symbolic links, which need not exist yet. A file
 * that is renamed to this path leaves the links as they are.
 */
export async function followLinks(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const link = await readlink(path).catch(() => undefined);
  return link === undefined ? path : followLinks(resolve(await realpath(dirname(path)), link));
}
