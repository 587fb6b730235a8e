/**
 * Secrets in files: `REDIS_URL_FILE` names a file with the text of `REDIS_URL`, as in the images of
 * databases.
 */
import { readFileSync, statSync } from 'node:fs';
import { type Name, VARIABLES } from './variables';

/**
 * A secret must not have these permissions. Its group may read it, because Kubernetes mounts a
 * secret like that.
 */
const ACCESS_BY_OTHERS = 0o027;
const MAX_BYTES = 64 * 2 ** 10;

/**
 * Returns the variable that names a file with the text of `name`, or `undefined` if the text can
 * only be in the environment.
 */
export function fileVariable(name: Name): Name | undefined {
  const variable = `${name}_FILE`;
  return variable in VARIABLES && name !== 'AUTH_TOKENS' ? (variable as Name) : undefined;
}

/**
 * Reads the file without the line feed at its end. Throws RangeError with the broken rule, which
 * does not quote the secret.
 */
export function readSecret(path: string): string {
  try {
    const stats = statSync(path);
    if (!stats.isFile() || stats.size > MAX_BYTES)
      throw new RangeError('must name a regular file of at most 64 KiB');
    if (stats.mode & ACCESS_BY_OTHERS && process.platform !== 'win32')
      throw new RangeError(
        'names a file that other users of this machine may read or change ' +
          `(mode 0${(stats.mode & 0o777).toString(8)}): chmod 600`,
      );
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    if (error instanceof RangeError) throw error;
    throw new RangeError(
      `names a file that cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown reason'})`,
      { cause: error },
    );
  }
}
