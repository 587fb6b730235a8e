import { type User, USER_RULE, parseUser } from '../../application';

/**
 * The format of a token file, for example
 *
 *     {"users": [{"name": "alice", "tokens": [{"sha256": "9f86d081…", "note": "laptop"}]}]}
 *
 * Unknown members are rejected: a misspelt one would silently lock a user out, or
 * fail to revoke a token.
 */
export interface TokenFileContent {
  readonly users: readonly TokenFileUser[];
}

export interface TokenFileUser {
  readonly name: User;
  readonly tokens: readonly TokenFileEntry[];
}

export interface TokenFileEntry {
  /** Digest of the token; see `tokenDigest`. */
  readonly sha256: string;
  /** The purpose of the token. */
  readonly note?: string;
}

/** The token file is invalid. The message names the entry and the rule, and quotes no content. */
export class BrokenTokenFile extends Error {
  override readonly name: string = 'BrokenTokenFile';
}

/** The token file could not be read. A retry may succeed. */
export class UnreadableTokenFile extends BrokenTokenFile {
  override readonly name = 'UnreadableTokenFile';
}

const SHA256 = /^[0-9a-f]{64}$/i;

/** @throws {BrokenTokenFile} */
export function parseTokenFile(bytes: Uint8Array): TokenFileContent {
  const file = object(json(bytes), 'the file', ['users']);
  return {
    users: list(file['users'], 'users').map((user, index) => parseEntryOfUser(user, `users[${index}]`)),
  };
}

/** Digest → user. @throws {BrokenTokenFile} if a name or a token occurs twice. */
export function usersByDigest({ users }: TokenFileContent): ReadonlyMap<string, User> {
  const names = new Set<User>();
  const byDigest = new Map<string, User>();
  users.forEach(({ name, tokens }, u) => {
    if (names.has(name)) throw new BrokenTokenFile(`users[${u}].name occurs before: list a user once`);
    names.add(name);
    tokens.forEach(({ sha256 }, t) => {
      if (byDigest.has(sha256)) {
        throw new BrokenTokenFile(`users[${u}].tokens[${t}].sha256 occurs before: list a token once`);
      }
      byDigest.set(sha256, name);
    });
  });
  return byDigest;
}

function parseEntryOfUser(value: unknown, where: string): TokenFileUser {
  const user = object(value, where, ['name', 'tokens']);
  const name = typeof user['name'] === 'string' ? parseUser(user['name']) : undefined;
  if (name === undefined) throw new BrokenTokenFile(`${where}.name must be ${USER_RULE}`);
  const tokens = list(user['tokens'], `${where}.tokens`);
  return { name, tokens: tokens.map((token, index) => parseToken(token, `${where}.tokens[${index}]`)) };
}

function parseToken(value: unknown, where: string): TokenFileEntry {
  const { sha256, note } = object(value, where, ['sha256', 'note']);
  if (typeof sha256 !== 'string' || !SHA256.test(sha256)) {
    throw new BrokenTokenFile(`${where}.sha256 must be 64 hexadecimal digits`);
  }
  if (note !== undefined && typeof note !== 'string') throw new BrokenTokenFile(`${where}.note must be text`);
  return { sha256: sha256.toLowerCase(), ...(note === undefined ? {} : { note }) };
}

function json(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new BrokenTokenFile('the file must be JSON in UTF-8');
  }
}

function object(value: unknown, where: string, members: readonly string[]): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new BrokenTokenFile(`${where} must be an object`);
  }
  if (Object.keys(value).some((member) => !members.includes(member))) {
    throw new BrokenTokenFile(`${where} may have no members but ${members.join(' and ')}`);
  }
  return value as Record<string, unknown>;
}

function list(value: unknown, where: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new BrokenTokenFile(`${where} must be a list`);
  return value;
}
