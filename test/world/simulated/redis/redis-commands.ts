import {
  SNAPSHOT_FIELDS,
  READ_FIELDS,
  WRITE,
  checksumOf,
} from '../../../../src/adapters/redis/snapshot-store';
import { APPEND, CHECK_PRIMARY, type Doubt, READ } from '../../../../src/adapters/redis/scripts';
import { identityFields } from '../../../../src/adapters/redis/store-identity';
import { REPLACE_BASE, TRIM } from '../../../../src/adapters/redis/stream-archive';
import type { Clock, StoredEvent, StreamName } from '../../../../src/event-sourcing';
import { OUT_OF_MEMORY, type RedisModel, WriteRefused } from '../redis-model';
import type { ClusterNode, ClusterSlots } from './cluster-slots';
import { ErrorReply, type Reply } from './resp';

/** How a connection sees the server. */
export interface Session {
  /** Set once the server is a replica that lags behind: the number of events that it has of each stream. */
  replicaOf?: ReadonlyMap<string, number>;
  /** Number of writes of the server after the last write of the connection. */
  lastWrite: number;
  readonly instance: number;
  readonly node: ClusterNode;
  /** Whether the client has sent ASKING before this command. */
  asking: boolean;
}

export interface RedisCommandsOptions {
  readonly model: RedisModel;
  readonly clock: Clock;
  readonly replicas: number;
  /** Those of a Cluster. */
  readonly slots?: ClusterSlots | undefined;
}

type Args = readonly string[];
type Execute = (args: Args, session: Session) => Reply;
type ExecuteScript = (keys: Args, args: Args, session: Session) => Reply;

interface Draft {
  readonly fields: Map<string, string>;
  readonly expires: number;
}

const READONLY = "READONLY You can't write against a read only replica.";
const LOADING = 'LOADING Redis is loading the dataset in memory';
const NOSCRIPT = 'NOSCRIPT No matching script. Please use EVAL.';
/** The commands that Redis executes while it loads its data. */
const WHILE_LOADING = ['hello', 'client', 'cluster', 'asking', 'info', 'config'];

/**
 * The commands that the Redis adapter sends, executed on the model. The scripts are interpreted: what each does is
 * written here a second time, and compared with the Lua script on a real Redis.
 */
export class RedisCommands {
  loading = false;
  /** The id of the store. A failover keeps it, as if it had been created long before. */
  storeId: string | undefined = 'ffffffff-ffff-4fff-bfff-ffffffffffff';
  /** The snapshots and drafts, by key. A failover keeps them: a snapshot may be newer than the history. */
  readonly #snapshots = new Map<string, Map<string, string>>();
  readonly #drafts = new Map<string, Draft>();
  readonly #encoded = new WeakMap<StoredEvent, Buffer>();
  /** The digests of the scripts that the server knows. */
  readonly #known = new Set<string>();

  constructor(private readonly options: RedisCommandsOptions) {}

  /** SCRIPT FLUSH, as after a restart. */
  flushScripts(): void {
    this.#known.clear();
  }

  execute([name, ...args]: Args, session: Session): Reply {
    const command = name!.toLowerCase();
    if (this.loading && !WHILE_LOADING.includes(command)) return new ErrorReply(LOADING);
    const redirection = this.#redirection(command, args, session);
    session.asking = command === 'asking';
    if (redirection !== undefined) return new ErrorReply(redirection);
    const execute = this.#commands[command];
    if (execute === undefined) return new ErrorReply(`ERR unknown command '${command}'`);
    try {
      return execute(args, session);
    } catch (error) {
      if (!(error instanceof WriteRefused)) throw error;
      return new ErrorReply(error.message);
    }
  }

  #redirection(command: string, args: Args, session: Session): string | undefined {
    const key = command === 'xrange' ? args[0] : command.startsWith('eval') ? args[2] : undefined;
    return key && this.options.slots?.redirection(streamOf(key), session);
  }

  readonly #commands: Readonly<Record<string, Execute>> = {
    asking: () => 'OK',
    cluster: ([part], { instance }) =>
      part!.toUpperCase() === 'SLOTS' ? this.options.slots!.slots(instance) : 'cluster_state:ok',
    hello: () =>
      new Map<string, string | number>([
        ['server', 'redis'],
        ['proto', 3],
      ]),
    client: () => 'OK',
    info: (_, session) => this.#info(session),
    config: () =>
      new Map([
        ['appendfsync', 'always'],
        ['databases', '16'],
        ['min-replicas-to-write', '0'],
        ['save', ''],
        ['stop-writes-on-bgsave-error', 'yes'],
      ]),
    // Of the id of the store.
    xrange: () => (this.storeId === undefined ? [] : [['1-0', [...identityFields(this.storeId)]]]),
    // As if it did not block. `SimulatedRedis` repeats it.
    xread: (args, session) => {
      const [keys, ids] = halves(args.slice(args.indexOf('STREAMS') + 1));
      const changed = keys.flatMap((key, index) => {
        const stream = streamOf(key);
        const from = Math.max(parseInt(ids[index]!, 10), this.options.model.oldest(stream) - 1);
        const entries = this.#history(stream, session).slice(from);
        return entries.length === 0 ? [] : [[key, entries.slice(0, 1).map(this.#fields)] as const];
      });
      return changed.length === 0 ? null : new Map(changed);
    },
    evalsha: ([digest, ...rest], session) =>
      this.#known.has(digest!) ? this.#script(digest!, rest, session) : new ErrorReply(NOSCRIPT),
    eval: ([text, ...rest], session) => {
      const { sha1 } = Object.values(SCRIPTS).find((script) => script.text === text)!;
      this.#known.add(sha1);
      return this.#script(sha1, rest, session);
    },
  };

  readonly #scripts: Readonly<Record<string, ExecuteScript>> = {
    [READ.sha1]: (keys, args, session) =>
      this.#each(2, keys, args, (stream, own, demands) => this.#read(stream, own, demands, session)),
    [APPEND.sha1]: (keys, args, session) =>
      this.#each(3, keys, args, (stream, own, demands) => this.#append(stream, own, demands, session)),
    [WRITE.sha1]: (keys, args, session) => this.#writeSnapshot(keys, args, session),
    [READ_FIELDS.sha1]: ([key], [max, ...names]) => {
      const fields = this.#hash(key!);
      return names.map((name) => {
        const value = fields?.get(name) ?? null;
        const length = value === null ? 0 : Buffer.byteLength(value);
        return length > Number(max) ? length : value;
      });
    },
    [REPLACE_BASE.sha1]: (keys, args, session) => this.#replaceBase(keys, args, session),
    [CHECK_PRIMARY.sha1]: (_, demands, session) => [this.#doubt(demands, session) ?? 'current'],
    [TRIM.sha1]: ([key], args, session) => this.#trim(streamOf(key!), args, session),
  };

  #script(digest: string, [keyCount, ...rest]: Args, session: Session): Reply {
    const keys = Number(keyCount);
    return this.#scripts[digest]!(rest.slice(0, keys), rest.slice(keys), session);
  }

  #info({ replicaOf }: Session): string {
    const { model, replicas } = this.options;
    const online = model.connected.filter((connected) => connected).length;
    return [
      `loading:${this.loading ? 1 : 0}`,
      `role:${replicaOf ? 'slave' : 'master'}`,
      ...['used_memory:2', 'mem_not_counted_for_evict:0', 'maxmemory_policy:noeviction'],
      `maxmemory:${model.refusal?.startsWith('OOM') ? 1 : 0}`,
      ...['aof_enabled:1', 'rdb_last_bgsave_status:ok'],
      `aof_last_write_status:${model.refusal?.startsWith('MISCONF') ? 'err' : 'ok'}`,
      `connected_slaves:${replicas}`,
      ...Array.from({ length: online }, (_, index) => `slave${index}:state=online`),
    ].join('\r\n');
  }

  /** What the server of this connection has of a stream, with the events that were archived. */
  #history(stream: StreamName, { replicaOf }: Session): readonly StoredEvent[] {
    const history = this.options.model.history(stream);
    return replicaOf ? history.slice(0, replicaOf.get(stream) ?? 0) : history;
  }

  /** As `doubt` of the scripts. The connected replicas have always confirmed the last writes. */
  #doubt([replicas, , id]: Args, { replicaOf }: Session): Doubt | undefined {
    if (Number(replicas) >= 0 && replicaOf) return 'replica';
    if (this.#isAnotherStore(id!)) return 'identity';
    if (Number(replicas) < 0) return undefined;
    const confirming = this.options.model.connected.filter((connected) => connected).length;
    return confirming < Number(replicas) ? 'unconfirmed' : undefined;
  }

  #isAnotherStore(id: string): boolean {
    return id !== '' && id !== this.storeId;
  }

  /** The replies of a script that makes many calls. @param keyCount number of the keys of each. */
  #each(
    keyCount: number,
    keys: Args,
    [replicas, lag, id, ...calls]: Args,
    one: (stream: StreamName, args: Args, demands: Args) => Reply,
  ): Reply {
    const replies: Reply[] = [];
    for (let key = 0, at = 0; at < calls.length; key += keyCount) {
      const end = at + 1 + Number(calls[at]);
      try {
        replies.push(one(streamOf(keys[key]!), calls.slice(at + 1, end), [replicas!, lag!, id!]));
      } catch (error) {
        if (!(error instanceof WriteRefused)) throw error;
        replies.push(error.message === READONLY ? ['replica'] : new ErrorReply(error.message));
      }
      at = end;
    }
    return replies;
  }

  #read(stream: StreamName, [version, entries, bytes]: Args, demands: Args, session: Session): Reply {
    const doubt = this.#doubt(demands, session);
    if (doubt !== undefined) return [doubt];
    if (version === '0' && this.options.model.hasLostBase(stream)) return ['unreadable'];
    const history = this.#history(stream, session);
    const oldest = this.options.model.oldest(stream);
    if (history.length >= oldest && oldest > Math.max(1, Number(version))) return ['archived'];
    return this.#page(history.slice(Math.max(Number(version), oldest) - 1), Number(entries), Number(bytes));
  }

  #append(
    stream: StreamName,
    [version, base, commit, entries, bytes, , , ...texts]: Args,
    demands: Args,
    session: Session,
  ): Reply {
    const { model } = this.options;
    const doubt = this.#doubt(demands, session);
    if (this.#isAnotherStore(demands[2]!)) return [doubt!];
    const expected = { version: Number(version), commit: base! };
    const events = Array.from({ length: texts.length / 2 }, (_, index) => ({
      type: texts[2 * index]!,
      data: texts[2 * index + 1]!,
    }));
    const page = (history: readonly StoredEvent[]) =>
      this.#page(
        history.slice(Math.max(expected.version, model.oldest(stream)) - 1),
        Number(entries),
        Number(bytes),
      );
    const history = this.#history(stream, session);
    const status = model.check(stream, expected, commit!, events, history);
    if (status === 'conflict') return doubt ? [doubt] : [status, ...page(history)];
    if (status !== 'recorded' && status !== 'new') return [doubt ?? status];
    if (session.replicaOf) return ['replica'];
    model.append(stream, expected, commit!, events);
    session.lastWrite = model.offset;
    return ['appended'];
  }

  /** The packed entries of a page, as `PAGE` of the scripts makes it. */
  #page(history: readonly StoredEvent[], limit: number, bytes: number): [more: number, packed: Buffer] {
    const packed: Buffer[] = [];
    let size = 0;
    for (const recorded of history) {
      const entry = this.#entry(recorded);
      size += entry.length;
      if (packed.length === limit || (packed.length > 1 && size > bytes)) return [1, Buffer.concat(packed)];
      packed.push(entry);
    }
    return [0, Buffer.concat(packed)];
  }

  readonly #fields = ({ version, commit, type, data }: StoredEvent): Reply => [
    `${version}-0`,
    ['type', type, 'data', data, 'commit', commit],
  ];

  #entry(recorded: StoredEvent): Buffer {
    const known = this.#encoded.get(recorded);
    if (known !== undefined) return known;
    const { version, type, data, commit } = recorded;
    const entry = Buffer.concat([`${version}-0`, type, data, commit].map(packText));
    this.#encoded.set(recorded, entry);
    return entry;
  }

  #hash(key: string): ReadonlyMap<string, string> | undefined {
    if (key.endsWith(':base')) return this.#base(streamOf(key));
    if (key.endsWith(':draft')) return this.#draft(key);
    return this.#snapshots.get(key);
  }

  #base(stream: StreamName): ReadonlyMap<string, string> | undefined {
    const base = this.options.model.bases.get(stream);
    if (base === undefined) return undefined;
    const checksum = checksumOf(stream, base);
    for (const chunk of base.chunks) checksum.update(chunk);
    const { format, head, archive, chunks } = base;
    const header = [
      format,
      String(head.version),
      head.commit,
      archive,
      String(chunks.length),
      checksum.digest(),
    ];
    return new Map([
      ...SNAPSHOT_FIELDS.map((name, index) => [name, header[index]!] as const),
      ...chunks.map((chunk, index) => [String(index), chunk] as const),
    ]);
  }

  #writeSnapshot(
    [streamKey, snapshot, draftKey]: Args,
    [version, commit, writer, step, expiry, ...fields]: Args,
    session: Session,
  ): Reply {
    const { model, clock } = this.options;
    if (!this.#hasEntry(streamOf(streamKey!), version!, commit!)) return 0;
    if (step === 'take') {
      this.#mustRemove(session);
      this.#drafts.delete(draftKey!);
    }
    const draft = this.#draft(draftKey!) ?? new Map<string, string>();
    const isFirst = step === 'first' || step === 'take';
    if ((draft.get('writer') ?? (isFirst ? writer : undefined)) !== writer) return 0;
    // Redis refuses only the first write of a script for its memory.
    const refusal = session.replicaOf ? READONLY : model.refusal;
    if (refusal !== undefined && step !== 'take') throw new WriteRefused(refusal);
    draft.set('writer', writer!);
    for (let index = 0; index < fields.length; index += 2) draft.set(fields[index]!, fields[index + 1]!);
    this.#drafts.set(draftKey!, { fields: draft, expires: clock.now() + Number(expiry) });
    if (step === 'last') {
      this.#drafts.delete(draftKey!);
      this.#snapshots.set(snapshot!, draft);
    }
    return 1;
  }

  #replaceBase(
    [streamKey, , draftKey, snapshotKey]: Args,
    [version, commit, writer, replaced]: Args,
    session: Session,
  ): Reply {
    const { model } = this.options;
    const stream = streamOf(streamKey!);
    const draft = this.#draft(draftKey!);
    if (!this.#hasEntry(stream, version!, commit!)) return 0;
    if (draft === undefined || draft.get('writer') !== writer) return 0;
    if (String(model.bases.get(stream)?.head.version ?? 0) !== replaced) return 0;
    this.#mustRemove(session);
    this.#drafts.delete(draftKey!);
    const [format, head, base, archive, count] = SNAPSHOT_FIELDS.map((name) => draft.get(name)!);
    model.archive(stream, {
      ...{ format: format!, head: { version: Number(head), commit: base! }, archive: archive! },
      chunks: Array.from({ length: Number(count) }, (_, index) => draft.get(String(index))!),
    });
    if (Number(this.#snapshots.get(snapshotKey!)?.get('version')) < Number(version))
      this.#snapshots.delete(snapshotKey!);
    session.lastWrite = model.offset;
    return 1;
  }

  #trim(stream: StreamName, [version, commit, limit]: Args, session: Session): Reply {
    const { model } = this.options;
    const head = model.bases.get(stream)?.head;
    if (String(head?.version) !== version || head!.commit !== commit) return -1;
    if (!this.#hasEntry(stream, version, commit)) return -1;
    this.#mustRemove(session);
    const removed = model.trim(stream, Number(limit));
    session.lastWrite = model.offset;
    return removed;
  }

  /** Whether the stream has the entry of this head. */
  #hasEntry(stream: StreamName, version: string, commit: string): boolean {
    const { model } = this.options;
    const has = model.history(stream)[Number(version) - 1]?.commit === commit;
    return has && Number(version) >= model.oldest(stream);
  }

  #draft(key: string): Map<string, string> | undefined {
    const draft = this.#drafts.get(key);
    return draft && draft.expires > this.options.clock.now() ? draft.fields : undefined;
  }

  /** Throws if the server refuses to write. Without memory it still removes. */
  #mustRemove({ replicaOf }: Session): void {
    const { refusal } = this.options.model;
    if (replicaOf) throw new WriteRefused(READONLY);
    if (refusal !== undefined && refusal !== OUT_OF_MEMORY) throw new WriteRefused(refusal);
  }
}

const SCRIPTS = { READ, APPEND, CHECK_PRIMARY, WRITE, READ_FIELDS, REPLACE_BASE, TRIM };

/** By text and by digest. */
export const SCRIPT_NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries(SCRIPTS).flatMap(([name, { text, sha1 }]) => [
    [text, name],
    [sha1, name],
  ]),
);

function packText(text: string): Buffer {
  const packed = Buffer.alloc(4 + Buffer.byteLength(text));
  packed.writeUInt32BE(packed.length - 4);
  packed.write(text, 4);
  return packed;
}

function halves<T>(values: readonly T[]): [readonly T[], readonly T[]] {
  const middle = values.length / 2;
  return [values.slice(0, middle), values.slice(middle)];
}

function streamOf(key: string): StreamName {
  // That of the store's id has nothing after the tag.
  const [, tag, name = tag] = /\{(.*)\}:(?:(.+?):)?(?:events|snapshot|base)/.exec(key)!;
  return decodeURIComponent(name!) as StreamName;
}
