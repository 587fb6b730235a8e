import { Redis } from 'ioredis';
import {
  type Batch,
  type Checkpoint,
  CheckpointConflict,
  type Head,
  type StreamName,
  partsOfKey,
} from '../../../src/event-sourcing';

/** Consecutive events of one commit. */
type Run = [first: number, last: number, commit: string];

/**
 * ARGV: the key of the bucket, its expected value, the new values, the slices with their runs, the time. Returns 0 for a
 * conflict. Events that do not follow those before are kept as a problem, because a stream that is replaced later hides
 * them.
 */
const TRANSACTION = `
local bucket, expected, at = ARGV[1], ARGV[2], ARGV[5]
local checkpoint = 'checkpoint:' .. bucket
if (redis.call('HGET', checkpoint, bucket) or '') ~= expected then return 0 end
for _, pair in ipairs(cjson.decode(ARGV[3])) do
  if pair[2] == '' then redis.call('HDEL', checkpoint, pair[1])
  else redis.call('HSET', checkpoint, pair[1], pair[2]) end
end
for _, slice in ipairs(cjson.decode(ARGV[4])) do
  local key, last = 'applied:' .. slice.stream, 0
  local before = redis.call('LINDEX', key, -1)
  if slice.restarts then
    if redis.call('DEL', key) == 1 then redis.call('RPUSH', 'undone', at .. ' ' .. bucket) end
  elseif before then last = cjson.decode(before)[2] end
  for _, run in ipairs(slice.runs) do
    if run[1] ~= last + 1 then
      redis.call('RPUSH', 'problems', slice.stream .. ': event ' .. run[1] .. ' after ' .. last)
    end
    redis.call('RPUSH', key, cjson.encode(run))
    last = run[2]
    redis.call('INCRBY', 'events', run[2] - run[1] + 1)
  end
end
return 1`;

/** A read model in a Redis of its own, which survives its consumers: the commits of each stream, and what was undone. */
export class Audit implements Checkpoint {
  readonly #redis: Redis;

  constructor(port: number) {
    this.#redis = new Redis(port, { maxRetriesPerRequest: null });
  }

  async load(keys: readonly string[]): Promise<(string | undefined)[]> {
    const values = await this.#redis.hmget(`checkpoint:${partsOfKey(keys[0]!).bucket}`, ...keys);
    return values.map((value) => value ?? undefined);
  }

  async *keys(prefix: string): AsyncIterable<string> {
    const keys = await this.#redis.hkeys(`checkpoint:${partsOfKey(prefix).bucket}`);
    yield* keys.filter((key) => key.startsWith(prefix));
  }

  async transaction({ slices, checkpoint: { key, expected, values } }: Batch<string>): Promise<void> {
    const applied = slices.map(({ stream, restarts, events }) => ({
      stream,
      restarts,
      runs: runsOf(events),
    }));
    const pairs = [...values].map(([each, value]) => [each, value ?? '']);
    const args = [key, expected ?? '', JSON.stringify(pairs), JSON.stringify(applied), Date.now()];
    if ((await this.#redis.eval(TRANSACTION, 0, ...args)) === 0) throw new CheckpointConflict();
  }

  async noteReset(bucket: number): Promise<void> {
    await this.#redis.rpush('resets', `${Date.now()} ${bucket}`);
  }

  async noteProblem(problem: string): Promise<void> {
    await this.#redis.rpush('problems', problem);
  }

  async problems(): Promise<readonly string[]> {
    return this.#redis.lrange('problems', 0, -1);
  }

  /** Events that were applied, also those that were undone. */
  async events(): Promise<number> {
    return Number(await this.#redis.get('events'));
  }

  /** When lost tails were reported, or applied streams replaced, and of which bucket. */
  async times(of: 'resets' | 'undone'): Promise<{ readonly at: number; readonly bucket: number }[]> {
    return (await this.#redis.lrange(of, 0, -1)).map((line) => {
      const [at, bucket] = line.split(' ').map(Number);
      return { at: at!, bucket: bucket! };
    });
  }

  async streams(): Promise<StreamName[]> {
    return (await this.#redis.keys('applied:*')).map((key) => key.slice('applied:'.length) as StreamName);
  }

  async appliedOf(stream: StreamName): Promise<Head[]> {
    const runs = (await this.#redis.lrange(`applied:${stream}`, 0, -1)).map((run) => JSON.parse(run) as Run);
    return runs.flatMap(([first, last, commit]) =>
      Array.from({ length: last - first + 1 }, (_, index) => ({ version: first + index, commit })),
    );
  }

  close(): void {
    this.#redis.disconnect();
  }
}

function runsOf(events: readonly Head[]): Run[] {
  const runs: Run[] = [];
  for (const { version, commit } of events) {
    const last = runs.at(-1);
    if (last?.[2] === commit && last[1] === version - 1) last[1] = version;
    else runs.push([version, version, commit]);
  }
  return runs;
}
