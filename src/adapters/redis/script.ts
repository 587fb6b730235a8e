import { createHash } from 'node:crypto';
import type { RedisClient } from './client';

/** A Lua script. Redis executes it atomically. */
export interface Script {
  readonly text: string;
  readonly sha1: string;
}

export function script(text: string): Script {
  return { text, sha1: createHash('sha1').update(text).digest('hex') };
}

/** Executes a script on keys of one slot. Redis gets its text only if it does not know its digest. */
export async function executeScript(
  client: RedisClient,
  { text, sha1 }: Script,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<unknown> {
  try {
    return await client.callBuffer('evalsha', sha1, keys.length, ...keys, ...args);
  } catch (error) {
    if (!isUnknownScript(error)) throw error;
    return client.callBuffer('eval', text, keys.length, ...keys, ...args);
  }
}

export function isUnknownScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}
