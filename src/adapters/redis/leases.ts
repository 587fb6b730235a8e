import type { LeaseStore } from '../../event-sourcing';
import type { RedisConnection } from './connection';
import { reading, writing } from './faults';
import { type Script, script } from './script';
import { CURRENT, IDENTITY } from './server-doubt';
import { projectionsKey } from './stream-key';

/**
 * KEYS: the projections, and the id of the store except on a Cluster. ARGV: three for `doubt`, the projection. Returns the
 * time of the server in seconds and microseconds, and the text; or a doubt.
 */
const LOAD = script(`${CURRENT}
local why = doubt(ARGV[1], ARGV[2], ARGV[3])
if why then return {why} end
local time = redis.call('TIME')
return {time[1], time[2], redis.call('HMGET', KEYS[1], ARGV[4])[1]}
`);

/** KEYS and ARGV: as the first of LOAD. Returns the projections, after an empty text; or a doubt. */
const NAMES = script(`${CURRENT}
local why = doubt(ARGV[1], ARGV[2], ARGV[3])
if why then return {why} end
local names = redis.call('HKEYS', KEYS[1])
table.insert(names, 1, '')
return names
`);

/**
 * KEYS: as LOAD. ARGV: the id of the store, the projection, then the text that it must have and the new one; an empty one
 * is none.
 */
const SAVE = script(`${IDENTITY}
local projections, name, text = KEYS[1], ARGV[2], ARGV[4]
if isAnotherStore(ARGV[1]) then return {'identity'} end
if (redis.call('HMGET', projections, name)[1] or '') ~= ARGV[3] then return {'conflict'} end
if text == '' then redis.call('HDEL', projections, name) else redis.call('HSET', projections, name, text) end
return {'saved'}
`);

/** The leases of all projections, as fields of one hash. Times are those of the server, which no instance has to share. */
export class RedisLeases implements LeaseStore {
  constructor(
    private readonly connection: RedisConnection,
    private readonly options: { readonly keyPrefix: string },
  ) {}

  async load(projection: string): Promise<{ text: string | undefined; now: number }> {
    const [seconds, microseconds, text] = await this.#read(LOAD, projection);
    return { text: text?.toString(), now: 1000 * Number(seconds) + Number(microseconds) / 1000 };
  }

  async projections(): Promise<string[]> {
    const [, ...names] = await this.#read(NAMES);
    return names.map(String);
  }

  async save(projection: string, expected = '', text = ''): Promise<boolean> {
    const [result] = await writing(() =>
      this.connection.write(SAVE, [projectionsKey(this.options.keyPrefix)], [projection, expected, text]),
    );
    return String(result) === 'saved';
  }

  async #read(of: Script, ...args: readonly string[]): Promise<readonly (Buffer | null)[]> {
    const keys = [projectionsKey(this.options.keyPrefix)];
    const reply = await reading(() => this.connection.execute(of, keys, args));
    return reply as readonly (Buffer | null)[];
  }
}
