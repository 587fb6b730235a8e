import { randomBytes } from 'node:crypto';
import { type FileHandle, open, readFile, realpath, rename, stat, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { User } from '../../application';
import { type TokenFileContent, parseTokenFile, usersByDigest } from './token-file-format';
import { tokenDigest } from './token-digest';

/** A token file could not be changed, and was not. The message says what to do. */
export class TokenFileBusy extends Error {
  override readonly name = 'TokenFileBusy';
}

export interface NewToken {
  readonly user: User;
  /** For people: what the token is for. */
  readonly note?: string;
}

/** 256 random bits behind a prefix by which scanners for leaked secrets, and people, can tell what it is. */
export function mintToken(): string {
  return `plants_${randomBytes(32).toString('base64url')}`;
}

/**
 * Makes a token for a user and adds its digest to the file, which is made
 * where there is none. The token is nowhere but in the answer, and the answer
 * comes when the file is safely on the disk.
 *
 * A reader sees the old file or the new one, never a part: the new one is
 * written next to it and renamed. Its name is also the lock, so of two who
 * change the file at once one is turned away instead of undone.
 *
 * @throws {BrokenTokenFile} where the file is not in order: it is left alone.
 * @throws {TokenFileBusy}
 */
export async function addToken(path: string, { user, note }: NewToken): Promise<string> {
  // A symbolic link stays one: what it points to is replaced.
  const target = await orIfAbsent(realpath(path), path);
  const draftPath = `${target}.new`;
  const token = mintToken();
  const draft = await openDraft(draftPath);
  try {
    const before = await orIfAbsent(readFile(target).then(parseTokenFile), { users: [] });
    const after = withToken(before, user, {
      sha256: tokenDigest(token),
      ...(note === undefined ? {} : { note }),
    });
    usersByDigest(after);
    await draft.writeFile(`${JSON.stringify(after, null, 2)}\n`);
    await keepReaders(draft, target);
    await draft.sync();
    await rename(draftPath, target);
  } catch (error) {
    await unlink(draftPath).catch(() => {});
    throw error;
  } finally {
    await draft.close();
  }
  await syncDirectory(dirname(target));
  return token;
}

function withToken(
  { users }: TokenFileContent,
  user: User,
  entry: TokenFileContent['users'][number]['tokens'][number],
): TokenFileContent {
  const known = users.some(({ name }) => name === user);
  if (!known) return { users: [...users, { name: user, tokens: [entry] }] };
  return {
    users: users.map((one) => (one.name === user ? { ...one, tokens: [...one.tokens, entry] } : one)),
  };
}

async function openDraft(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'wx', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new TokenFileBusy(
      `somebody else is changing the file, or was cut short at it: if nobody is, delete ${path}`,
    );
  }
}

/** What a token file may allow at most: its group to read it. */
const SAFE_MODE = 0o640;

/**
 * It must not be taken away from the user whom the service runs as: run by root it stays its owner's, and the group
 * that could read it still can. One that others could read or change becomes its owner's alone.
 */
async function keepReaders(draft: FileHandle, target: string): Promise<void> {
  const before = await orIfAbsent(stat(target), undefined);
  if (before === undefined) return;
  if (process.getuid?.() === 0) await draft.chown(before.uid, before.gid);
  const mode = before.mode & 0o777;
  if ((mode & ~SAFE_MODE) === 0) await draft.chmod(mode | 0o600);
}

/** Makes the renaming itself survive a power failure, where the system can: the token is in force already. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r').catch(() => undefined);
  await directory?.sync().catch(() => {});
  await directory?.close();
}

async function orIfAbsent<T>(found: Promise<T>, absent: T): Promise<T> {
  try {
    return await found;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return absent;
    throw error;
  }
}
