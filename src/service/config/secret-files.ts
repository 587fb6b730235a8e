import { readFileSync, statSync } from 'node:fs';
import { isOpenToOthers } from '../../adapters/auth/token-file';
import { type Format, readPlain } from './formats';
import type { Name } from './variables';

/**
 * For each secret, the variable that may name a file with its text instead, as in the images of
 * databases.
 */
export const SECRET_FILES: ReadonlyMap<Name, Name> = new Map([
  ['REDIS_URL', 'REDIS_URL_FILE'],
  ['AUTH_JWT_SECRET', 'AUTH_JWT_SECRET_FILE'],
]);

const MAX_BYTES = 64 * 2 ** 10;

/**
 * Reads the file without the line feed at its end. Throws RangeError with the broken rule, which
 * does not quote the secret.
 */
export function readSecret(path: string, read: Format<unknown>['read']): unknown {
  const text = readText(path);
  try {
    if (text === '') throw new RangeError('is empty');
    return readPlain(text, read);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new RangeError(`names a file whose text ${error.message}`, { cause: error });
  }
}

function readText(path: string): string {
  try {
    const stats = statSync(path);
    if (!stats.isFile() || stats.size > MAX_BYTES)
      throw new RangeError('must name a regular file of at most 64 KiB');
    if (isOpenToOthers(stats))
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
