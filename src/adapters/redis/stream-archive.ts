import type { Base, Head, StoredBase, StreamArchive, StreamName } from '../../event-sourcing';
import type { RedisConnection } from './connection';
import { ifForbidden } from './examination';
import { reading, writing } from './faults';
import { type Script, executeScript, script } from './script';
import { RedisSnapshotStore } from './snapshot-store';
import { snapshotKeys, streamKey } from './stream-key';

/** Maximum number of entries that one script removes. Redis serves no other client meanwhile. */
const TRIM_ENTRIES = 5000;

/**
 * Makes a draft the base.
 *
 * KEYS: the stream, the base, the draft, the snapshot. ARGV: version and commit of the head, the id of the draft's
 * writer, the version of the base that it replaces (0: none). Removes a snapshot that is older than the base.
 */
export const REPLACE_BASE = script(`
local stream, base, draft, snapshot = unpack(KEYS)
local version, commit, writer, replaced = unpack(ARGV)
local entry = redis.call('XRANGE', stream, version .. '-0', version .. '-0')[1]
if not entry or entry[2][6] ~= commit then return 0 end
if redis.call('HMGET', draft, 'writer')[1] ~= writer then return 0 end
if (redis.call('HMGET', base, 'version')[1] or '0') ~= replaced then return 0 end
redis.call('PERSIST', draft)
-- RENAME would free the old base at once, and UNLINK frees it in the background.
redis.call('UNLINK', base)
redis.call('RENAME', draft, base)
local older = redis.call('HMGET', snapshot, 'version')[1]
if older and tonumber(older) < tonumber(version) then redis.call('UNLINK', snapshot) end
return 1
`);

/**
 * Removes the oldest entries before the head of the base. The entry of the head stays: reads, appends and snapshots
 * compare their heads with it.
 *
 * KEYS: the stream, the base. ARGV: version and commit of the head, maximum number of entries. Returns the number of
 * removed entries, or -1 if this is not the head of the base or the stream does not have it.
 */
export const TRIM = script(`
local stream, base = KEYS[1], KEYS[2]
local version, commit, limit = ARGV[1], ARGV[2], tonumber(ARGV[3])
local head = redis.call('HMGET', base, 'version', 'commit')
if head[1] ~= version or head[2] ~= commit then return -1 end
local entry = redis.call('XRANGE', stream, version .. '-0', version .. '-0')[1]
if not entry or entry[2][6] ~= commit then return -1 end
local oldest = tonumber(string.match(redis.call('XRANGE', stream, '-', '+', 'COUNT', 1)[1][1], '^%d+'))
local keep = math.min(tonumber(version), oldest + limit)
return redis.call('XTRIM', stream, 'MINID', '=', string.format('%.0f-0', keep))
`);

/** Keeps the base of a stream as a hash beside it, like its snapshots; see RedisSnapshotStore. */
export class RedisStreamArchive implements StreamArchive {
  readonly #drafts: RedisSnapshotStore;

  constructor(
    private readonly connection: RedisConnection,
    private readonly options: { readonly keyPrefix: string },
  ) {
    this.#drafts = new RedisSnapshotStore(connection, options);
  }

  async saveBase(
    stream: StreamName,
    base: Base,
    replaced: number,
    check: (stored: StoredBase) => Promise<void>,
  ): Promise<boolean> {
    const draft = await this.#drafts.saveBaseDraft(stream, base);
    if (draft === undefined) return false;
    await check(draft.stored);
    const { keyPrefix } = this.options;
    const keys = snapshotKeys(keyPrefix, stream, 'base');
    const { current: snapshot } = snapshotKeys(keyPrefix, stream);
    const { version, commit } = base.head;
    const reply = await this.#execute(
      REPLACE_BASE,
      [streamKey(keyPrefix, stream), keys.current, keys.draft, snapshot],
      [version, commit, draft.writer, replaced],
    );
    return reply === 1;
  }

  async trim(stream: StreamName, { version, commit }: Head): Promise<number | undefined> {
    const { keyPrefix } = this.options;
    const keys = [streamKey(keyPrefix, stream), snapshotKeys(keyPrefix, stream, 'base').current];
    const removed = (await this.#execute(TRIM, keys, [version, commit, TRIM_ENTRIES])) as number;
    return removed < 0 ? undefined : removed;
  }

  async bytes(stream: StreamName): Promise<number | undefined> {
    const key = streamKey(this.options.keyPrefix, stream);
    const used = await reading(async () =>
      this.connection.client.memory('USAGE', key).catch(ifForbidden(undefined)),
    );
    return typeof used === 'number' ? used : undefined;
  }

  #execute(text: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    return writing(() => executeScript(this.connection.client, text, keys, args));
  }
}
