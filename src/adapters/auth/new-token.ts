import { randomBytes } from 'node:crypto';
import { type FileHandle, open, readFile, realpath, rename, stat, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { User } from '../../application';
import { type TokenFileContent, parseTokenFile, usersByDigest } from './token-file-format';
import { tokenDigest } from './token-digest';

/** Another process is changing the token file. Nothing was changed; the message says what to do. */
export class TokenFileBusy extends Error {}

interface NewToken {
  readonly user: User;
  /** The purpose of the token. */
  readonly note?: string;
}

/** A token of 256 random bits, with a prefix by which secret scanners recognize it. */
export function mintToken(): string {
  return `plants_${randomBytes(32).toString('base64url')}`;
}

/**
 * Creates a token for a user and adds its digest to the file, which is created if
 * missing. Resolves with the token after the file was synced to disk; the token is
 * stored nowhere.
 *
 * The file is replaced atomically: the new content is written to a draft beside
 * it, which is then renamed. The draft is also the lock against concurrent
 * changes.
 *
 * @throws {BrokenTokenFile} if the file is invalid; it is left unchanged.
 * @throws {TokenFileBusy} if a draft exists.
 */
export async function addToken(path: string, { user, note }: NewToken): Promise<string> {
  // Of a symbolic link, the target is replaced.
  const target = await unlessMissing(realpath(path), path);
  const draftPath = `${target}.new`;
  const token = mintToken();
  const draft = await openDraft(draftPath);
  try {
    const before = await unlessMissing(readFile(target).then(parseTokenFile), { users: [] });
    const after = withToken(before, user, { sha256: tokenDigest(token), note });
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
      `another process is changing the file, or was interrupted: if none is running, delete ${path}`,
    );
  }
}

/** The widest accepted mode of a token file: readable by its group. */
const SAFE_MODE = 0o640;

/**
 * Keeps owner and group access, so that the service can still read the file, also if root runs the command. If others
 * could read or change it, only the owner keeps access.
 */
async function keepReaders(draft: FileHandle, target: string): Promise<void> {
  const before = await unlessMissing(stat(target), undefined);
  if (before === undefined) return;
  if (process.getuid?.() === 0) await draft.chown(before.uid, before.gid);
  const mode = before.mode & 0o777;
  if ((mode & ~SAFE_MODE) === 0) await draft.chmod(mode | 0o600);
}

/** Syncs the rename to disk, if the system supports it. The token is already valid. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r').catch(() => undefined);
  await directory?.sync().catch(() => {});
  await directory?.close();
}

async function unlessMissing<T>(found: Promise<T>, absent: T): Promise<T> {
  try {
    return await found;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return absent;
    throw error;
  }
}
