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
    await keepOwner(draft, target);
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

/** Run by root, it would otherwise take the file away from the user whom the service runs as. */
async function keepOwner(draft: FileHandle, target: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const owner = await orIfAbsent(stat(target), undefined);
  if (owner !== undefined) await draft.chown(owner.uid, owner.gid);
}

/** Makes the renaming itself survive a power failure, where the system can. */
async function syncDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const directory = await open(path, 'r');
  await directory.sync().finally(() => directory.close());
}

async function orIfAbsent<T>(found: Promise<T>, absent: T): Promise<T> {
  try {
    return await found;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return absent;
    throw error;
  }
}
