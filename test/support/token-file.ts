import { writeFileSync } from 'node:fs';
import { tokenDigest } from '../../src/adapters/auth/token-digest';
import { tokenOf } from './token';

/** The text of a token file with these users, each with its tokens. */
export function tokenFileOf(users: Readonly<Record<string, readonly string[]>>): string {
  return JSON.stringify({
    users: Object.entries(users).map(([name, tokens]) => ({
      name,
      tokens: tokens.map((token) => ({ sha256: tokenDigest(token) })),
    })),
  });
}

/** Writes a token file that only its owner may read: of these users, each with {@link tokenOf} its name. */
export function writeTokenFile(path: string, users: readonly string[]): void {
  const tokens = Object.fromEntries(users.map((name) => [name, [tokenOf(name)]]));
  writeFileSync(path, tokenFileOf(tokens), { mode: 0o600 });
}
