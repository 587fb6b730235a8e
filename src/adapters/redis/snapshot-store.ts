import { createHash, randomUUID } from 'node:crypto';
import { getHeapStatistics } from 'node:v8';
import {
  type Base,
  BrokenSnapshot,
  type Head,
  type Snapshot,
  type SnapshotStore,
  StoreUnavailable,
  type StoredBase,
  type StoredSnapshot,
  type StreamName,
  partsOf,
} from '../../event-sourcing';
import type { RedisConnection } from './connection';
import { reading } from './faults';
import { executeScript, script } from './script';
import { type SnapshotKeys, snapshotKeys, streamKey } from './stream-key';

/** A draft expires this long after its last chunk, so that another instance can save one if its writer ended. */
const DRAFT_MS = 30_000;

/**
 * One step of saving: writes fields of the draft, and with the last fields makes it the snapshot.
 *
 * KEYS: the stream, the snapshot, the draft. ARGV: version and commit of the head, the id of the writer, which step
 * it is (`first`, `next` or `last`; `take` is a first step that discards the draft of another writer), the time until
 * the draft expires, then a name and a value for each field.
 *
 * The draft is the lock of its writer. Each step checks that the stream has the head, so that nothing is written of a
 * stream that was erased.
 */
export const WRITE = script(`
local stream, snapshot, draft = unpack(KEYS)
local version, commit, writer, step, expiry = unpack(ARGV)
local entry = redis.call('XRANGE', stream, version .. '-0', version .. '-0')[1]
if not entry or entry[2][6] ~= commit then return 0 end
if step == 'take' then
  redis.call('UNLINK', draft)
  step = 'first'
end
local current = redis.call('HMGET', draft, 'writer')[1] or step == 'first' and writer
if current ~= writer then return 0 end
redis.call('HSET', draft, 'writer', writer, unpack(ARGV, 6))
redis.call('PEXPIRE', draft, expiry)
if step == 'last' then
  redis.call('PERSIST', draft)
  -- RENAME would free the old snapshot at once, and UNLINK frees it in the background.
  redis.call('UNLINK', snapshot)
  redis.call('RENAME', draft, snapshot)
end
return 1
`);

/**
 * Reads fields of a snapshot.
 *
 * KEYS: the snapshot. ARGV: the maximum length of a value, then the names of the fields. If a value is longer, it returns
 * the length instead, because a client keeps a whole reply in memory. A Redis user needs no further right for it: Redis
 * checks the right for HMGET in a script, too.
 */
export const READ_FIELDS = script(`
local values = redis.call('HMGET', KEYS[1], unpack(ARGV, 2))
for i = 1, #ARGV - 1 do
  if values[i] and #values[i] > tonumber(ARGV[1]) then values[i] = #values[i] end
end
return values
`);

/**
 * Maximum length of a chunk, in bytes. The store writes chunks of some 32 KiB, or one longer value. Decoded, a chunk can
 * take more than ten times its length.
 */
export const MAX_CHUNK_BYTES = Math.floor(getHeapStatistics().heap_size_limit / 64);

/** The fields of a snapshot beside its chunks, which are numbered from 0. Only a base has an archive. */
export const SNAPSHOT_FIELDS = ['format', 'version', 'commit', 'archive', 'chunks', 'checksum'] as const;

/**
 * Stores each snapshot as a hash beside its stream, one field per chunk, so that no command is long. A draft becomes
 * the snapshot in one step.
 */
export class RedisSnapshotStore implements SnapshotStore {
  constructor(
    private readonly connection: RedisConnection,
    private readonly options: { readonly keyPrefix: string },
  ) {}

  load(stream: StreamName): Promise<StoredSnapshot | undefined> {
    return this.#load(stream, snapshotKeys(this.options.keyPrefix, stream).current);
  }

  loadBase(stream: StreamName): Promise<StoredBase | undefined> {
    return this.#load(stream, snapshotKeys(this.options.keyPrefix, stream, 'base').current);
  }

  save(stream: StreamName, snapshot: Snapshot): Promise<boolean> {
    const keys = snapshotKeys(this.options.keyPrefix, stream);
    return this.#write(stream, keys, randomUUID(), { ...snapshot, archive: '' }, ['first', 'last']);
  }

  /**
   * Writes the draft of a base, instead of any other. Resolves with the id of its writer, and the draft as it is
   * stored; `undefined` if the stream does not have the head, or another writer has discarded the draft.
   */
  async saveBaseDraft(
    stream: StreamName,
    base: Base,
  ): Promise<{ writer: string; stored: StoredBase } | undefined> {
    const keys = snapshotKeys(this.options.keyPrefix, stream, 'base');
    const writer = randomUUID();
    if (!(await this.#write(stream, keys, writer, base, ['take', 'next']))) return undefined;
    const stored = await this.#load(stream, keys.draft);
    return stored && { writer, stored };
  }

  async #load(stream: StreamName, key: string): Promise<StoredBase | undefined> {
    const fields = await this.#read(key, ...SNAPSHOT_FIELDS);
    if (fields.every((field) => field === null)) return undefined;
    const [format, version, commit, archive, chunks, checksum] = fields.map((field) => field ?? '');
    const header = {
      format: format!,
      head: { version: Number(version), commit: commit! },
      archive: archive!,
    };
    return { ...header, chunks: this.#chunks(key, Number(chunks), checksum!, checksumOf(stream, header)) };
  }

  /** @param first the step that writes the first chunk. @param last the step that writes the header. */
  async #write(
    stream: StreamName,
    keys: SnapshotKeys,
    writer: string,
    { format, head, archive, chunks }: Base,
    [first, last]: readonly [Step, Step],
  ): Promise<boolean> {
    const checksum = checksumOf(stream, { format, head, archive });
    const step = (name: Step, fields: readonly string[]) =>
      this.#writeStep(stream, keys, head, writer, name, fields);
    let count = 0;
    for (const chunk of chunks) {
      checksum.update(chunk);
      if (!(await step(count === 0 ? first : 'next', [String(count++), chunk]))) return false;
    }
    const header = [format, String(head.version), head.commit, archive, String(count), checksum.digest()];
    return step(
      last,
      SNAPSHOT_FIELDS.flatMap((name, index) => [name, header[index]!]),
    );
  }

  async *#chunks(key: string, count: number, expected: string, checksum: Checksum): AsyncGenerator<string> {
    for (let index = 0; index < count; index++) {
      const [current, chunk] = await this.#read(key, 'checksum', String(index));
      if ((current ?? '') !== expected)
        throw new StoreUnavailable('the snapshot was replaced while it was read');
      if (chunk == null) throw new BrokenSnapshot(`chunk ${index} of ${count} is missing`);
      checksum.update(chunk);
      yield chunk;
    }
    if (checksum.digest() !== expected) throw new BrokenSnapshot('its checksum differs');
  }

  async #read(key: string, ...fields: string[]): Promise<(string | null)[]> {
    const reply = await reading(() =>
      executeScript(this.connection.client, READ_FIELDS, [key], [MAX_CHUNK_BYTES, ...fields]),
    );
    return (reply as (Buffer | number | null)[]).map((value, index) => {
      if (typeof value === 'number')
        throw new BrokenSnapshot(
          `its field ${fields[index]!} has ${value} bytes, and ${MAX_CHUNK_BYTES} are read at most, a 64th of the heap limit`,
        );
      return value && value.toString();
    });
  }

  async #writeStep(
    stream: StreamName,
    { current, draft }: SnapshotKeys,
    { version, commit }: Head,
    writer: string,
    step: Step,
    fields: readonly string[],
  ): Promise<boolean> {
    const keys = [streamKey(this.options.keyPrefix, stream), current, draft];
    const args = [version, commit, writer, step, DRAFT_MS, ...fields];
    // Like a read it changes no history, so an unknown outcome is no other fault.
    return (await reading(() => executeScript(this.connection.client, WRITE, keys, args))) === 1;
  }
}

type Step = 'take' | 'first' | 'next' | 'last';

type Checksum = ReturnType<typeof checksumOf>;

/**
 * SHA-256 of what a snapshot is of, and of its chunks, in this version of the layout. The category is not part of it, so
 * that `plant-store events convert` need not rewrite bases; no two categories have a format in common.
 */
export function checksumOf(stream: StreamName, { format, head, archive }: Omit<Base, 'chunks'>) {
  const hash = createHash('sha256');
  const update = (text: string) => hash.update(`${text.length}:`).update(text);
  for (const text of ['snapshot 1', partsOf(stream).id, format, String(head.version), head.commit])
    update(text);
  // Only a base has one.
  if (archive !== '') update(archive);
  return { update, digest: () => hash.digest('hex') };
}
