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

interface TokenFileUser {
  readonly name: User;
  readonly tokens: readonly TokenFileEntry[];
}

interface TokenFileEntry {
  /** Digest of the token; see `tokenDigest`. */
  readonly sha256: string;
  /** The purpose of the token. */
  readonly note?: string | undefined;
}

/** The token file is invalid. The message names the entry and the rule, and quotes no content. */
export class BrokenTokenFile extends Error {}

const SHA256 = /^[0-9a-f]{64}$/i;

/** @throws {BrokenTokenFile} */
export function parseTokenFile(bytes: Uint8Array): TokenFileContent {
  const { text, value } = parseText(bytes);
  const file = object(value, 'the file', ['users']);
  const users = list(file['users'], 'users').map((user, index) => parseEntryOfUser(user, `users[${index}]`));
  // Last, so that the message can name the member: it is a known one.
  requireUniqueMembers(text);
  return { users };
}

/** Digest → user. @throws {BrokenTokenFile} if a name or a token occurs twice. */
export function usersByDigest({ users }: TokenFileContent): ReadonlyMap<string, User> {
  const places = new Map<string, string>();
  const requireNew = (value: string, place: string, rule: string) => {
    const before = places.get(value);
    if (before !== undefined) throw new BrokenTokenFile(`${place} is the same as ${before}: ${rule}`);
    places.set(value, place);
  };
  const byDigest = new Map<string, User>();
  users.forEach(({ name, tokens }, u) => {
    requireNew(`user ${name}`, `users[${u}].name`, 'list a user once, with all tokens');
    tokens.forEach(({ sha256 }, t) => {
      requireNew(sha256, `users[${u}].tokens[${t}].sha256`, 'list a token once');
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
  return { sha256: sha256.toLowerCase(), note };
}

function parseText(bytes: Uint8Array): { text: string; value: unknown } {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return { text, value: JSON.parse(text) };
  } catch {
    throw new BrokenTokenFile('the file must be JSON in UTF-8');
  }
}

/** A string, which a colon makes the name of a member, or a sign. */
const STRING_OR_SIGN = /("(?:[^"\\]|\\.)*")(\s*:)?|[{}[\],]/g;

/**
 * Refuses a member that an object of `text`, valid JSON, has twice. `JSON.parse` takes the last one, and the tokens of
 * the others would silently be lost, or stay valid.
 */
function requireUniqueMembers(text: string): void {
  interface Value {
    /** Of its members so far; a list has none. */
    readonly names: Set<string>;
    latest?: string;
    /** In a list, that of the latest value. */
    index: number;
  }
  const within: Value[] = [];
  for (const [token, string, colon] of text.matchAll(STRING_OR_SIGN)) {
    const value = within.at(-1)!;
    if (token === '{' || token === '[') within.push({ names: new Set(), index: 0 });
    else if (token === '}' || token === ']') within.pop();
    else if (token === ',') value.index++;
    else if (colon) {
      value.latest = JSON.parse(string!) as string;
      if (value.names.has(value.latest)) {
        const place = within.map(({ latest, index }) => (latest === undefined ? `[${index}]` : `.${latest}`));
        throw new BrokenTokenFile(`${place.join('').slice(1)} is given twice`);
      }
      value.names.add(value.latest);
    }
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
