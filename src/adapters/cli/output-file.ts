import { randomUUID } from 'node:crypto';
import { link, open, readdir, realpath, rename, stat, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { finished } from 'node:stream/promises';
import { unlessInterrupted } from './command';
import { Refused } from './exit';
import { Output, escapeForTerminal } from './terminal';

/**
 * Replaces the file at `path` atomically. On failure, Ctrl-C or SIGTERM it is unchanged.
 * Of a symbolic link, the target is replaced. A device or a pipe is written to directly.
 */
export async function replaceFile<T>(path: string, write: Write<T>, interrupted: AbortSignal): Promise<T> {
  const target = await realpath(path).catch(() => path);
  const existing = await stat(target).catch(() => undefined);
  const whole = writeUnlessInterrupted(path, write, interrupted);
  if (existing !== undefined && !existing.isFile()) return writeFile(target, 'w', whole);
  return writeDraft(target, whole, (draft) => rename(draft, target));
}

/**
 * Creates the file at `path` atomically. On failure, Ctrl-C or SIGTERM there is none. Throws {@link Refused} if there
 * is one already, also if it was created meanwhile.
 */
export async function createFile<T>(path: string, write: Write<T>, interrupted: AbortSignal): Promise<T> {
  return writeDraft(path, writeUnlessInterrupted(path, write, interrupted), async (draft) => {
    try {
      await link(draft, path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST')
        throw new Refused(`${escapeForTerminal(path)} exists already`);
      // Not every file system has links.
      return rename(draft, path);
    }
    await unlink(draft);
  });
}

/**
 * Prints the path of each draft beside the file at `path`. Its command was killed, or still writes it: no rule can tell,
 * because that command may run on another machine. So nothing is removed.
 */
export async function reportDrafts(path: string, stderr: Output): Promise<void> {
  const target = await realpath(path).catch(() => path);
  const beside = await readdir(dirname(target)).catch(() => []);
  for (const name of beside.filter((each) => isDraftOf(basename(target), each)).sort()) {
    const draft = join(dirname(target), name);
    const written = await stat(draft).catch(() => undefined);
    if (written?.isFile() !== true) continue;
    await stderr.line(
      `${escapeForTerminal(draft)} is a draft of a command that was killed, or that still writes it ` +
        `(last at ${written.mtime.toISOString()}): delete it if no such command runs.`,
    );
  }
}

const DRAFT_SUFFIX = /^\.[0-9a-f]{8}\.part$/;

function isDraftOf(target: string, name: string): boolean {
  return name.startsWith(target) && DRAFT_SUFFIX.test(name.slice(target.length));
}

type Write<T> = (output: Output) => Promise<T>;

function writeUnlessInterrupted<T>(path: string, write: Write<T>, interrupted: AbortSignal): Write<T> {
  const message = `interrupted; ${escapeForTerminal(path)} is unchanged`;
  return (output) => unlessInterrupted(interrupted, write(output), message);
}

/** Writes a file beside the target, with a name that no other command has, and publishes it. */
async function writeDraft<T>(
  target: string,
  write: Write<T>,
  publish: (draft: string) => Promise<void>,
): Promise<T> {
  const draft = `${target}.${randomUUID().slice(0, 8)}.part`;
  try {
    const result = await writeFile(draft, 'wx', write);
    await publish(draft);
    return result;
  } catch (error) {
    await unlink(draft).catch(() => {});
    throw error;
  }
}

async function writeFile<T>(path: string, flags: 'w' | 'wx', write: Write<T>): Promise<T> {
  const file = await open(path, flags, 0o600);
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
