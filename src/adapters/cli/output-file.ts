import { open, realpath, rename, stat, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { finished } from 'node:stream/promises';
import { unlessInterrupted } from './command';
import { Output, escapeForTerminal } from './terminal';

/**
 * Replaces the file at `path` atomically. On failure, Ctrl-C or SIGTERM it is unchanged.
 * Of a symbolic link, the target is replaced. A device or a pipe is written to directly.
 */
export async function replaceFile<T>(
  path: string,
  write: (output: Output) => Promise<T>,
  interrupted: AbortSignal,
): Promise<T> {
  const target = await realpath(path).catch(() => path);
  const existing = await stat(target).catch(() => undefined);
  if (existing !== undefined && !existing.isFile()) return writeFile(target, write);
  const draft = `${target}.part`;
  try {
    const result = await writeFile(draft, (output) =>
      unlessInterrupted(interrupted, write(output), `interrupted; ${escapeForTerminal(path)} is unchanged`),
    );
    await rename(draft, target);
    return result;
  } catch (error) {
    await unlink(draft).catch(() => {});
    throw error;
  }
}

async function writeFile<T>(path: string, write: (output: Output) => Promise<T>): Promise<T> {
  const file = await open(path, 'w', 0o600);
  const isFile = (await file.stat()).isFile();
  const stream = file.createWriteStream({ flush: isFile });
  try {
    const result = await write(new Output(stream));
    stream.end();
    await finished(stream);
    return result;
  } catch (error) {
    stream.destroy();
    await finished(stream).catch(() => {});
    throw error;
  }
}

/** Flushes the directory of `path`, so that a power loss does not undo a rename. Not every file system can do it. */
export async function flushDirectoryOf(path: string): Promise<void> {
  const directory = await open(dirname(path));
  await directory.sync().catch(() => {});
  await directory.close();
}
