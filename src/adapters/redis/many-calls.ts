import type { Proof } from './server-doubt';

/** A call of a script that makes many; see `EACH`. */
export interface Call {
  readonly keys: readonly string[];
  readonly args: readonly (string | number)[];
}

/** The keys and the arguments of one execution that makes these calls. */
export function inOneExecution(
  calls: readonly Call[],
  proof: Proof,
): [keys: string[], args: (string | number)[]] {
  const keys: string[] = [];
  const args: (string | number)[] = [...proof.args];
  for (const call of calls) {
    for (const key of call.keys) keys.push(key);
    args.push(call.args.length);
    for (const arg of call.args) args.push(arg);
  }
  keys.push(...proof.keys);
  return [keys, args];
}

/**
 * Lua: the replies of many calls of one execution. Every call has `keyCount` keys. An error of a call is its reply, and
 * the other calls are made.
 *
 * ARGV: three for `doubt`, then for each call the number of its arguments, and these. `one` gets the places of its first
 * key and of its first argument, and the number of its arguments.
 *
 * A replica refuses writes: as a reply of a single call, the client would not see that its server was demoted.
 */
export const EACH = `
local function each(keyCount, one)
  local replies, key, at = {}, 1, 4
  while at <= #ARGV do
    local length = tonumber(ARGV[at])
    local made, reply = pcall(one, key, at + 1, length)
    if not made then
      local text = type(reply) == 'table' and reply.err or reply
      reply = string.find(text, 'READONLY', 1, true) and {'replica'} or redis.error_reply(text)
    end
    replies[#replies + 1] = reply
    key, at = key + keyCount, at + 1 + length
  end
  return replies
end
`;
