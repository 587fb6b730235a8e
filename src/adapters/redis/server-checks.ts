/** The possible problems of a Redis server, and their consequences. The names are labels of a metric. */
export const FINDINGS = {
  replica: 'refuse all',
  info_forbidden: 'refuse all',
  evicts: 'refuse all',
  missing_database: 'refuse all',
  another_store: 'refuse all',
  another_layout: 'refuse all',
  out_of_memory: 'no writes',
  disk_error: 'no writes',
  replicas_missing: 'no writes',
  no_append_only_file: 'warn',
  late_fsync: 'warn',
  unknown_fsync: 'warn',
  stale_reads: 'warn',
} as const;

export type FindingName = keyof typeof FINDINGS;

export interface Finding {
  readonly name: FindingName;
  /** The problem, and how to correct it. */
  readonly text: string;
}

/** The status and configuration of a server. */
interface ServerFacts {
  /** The reply of `INFO`; empty if it is forbidden. */
  readonly info: string;
  /** The reply of `CONFIG GET` for {@link CONFIG_NAMES}; empty if forbidden. */
  readonly config: ReadonlyMap<string, string>;
  /** The configured database number, if the server does not have it. */
  readonly missingDatabase?: number | undefined;
}

export const CONFIG_NAMES = [
  'appendfsync',
  'cluster-node-timeout',
  'databases',
  'min-replicas-max-lag',
  'min-replicas-to-write',
  'save',
  'stop-writes-on-bgsave-error',
] as const;

export interface Requirements {
  /** How many replicas must confirm a write. */
  readonly waitReplicas: number;
  /** After how long without an answer the Sentinels replace the primary, in ms; `undefined` without Sentinels. */
  readonly downAfterMs: number | undefined;
}

/**
 * What a primary must show so that its reads count as current: how many replicas have confirmed its writes within how
 * many seconds. 0: only that it is a primary; negative: nothing.
 */
export type ReplicaLease = readonly [replicas: number, lagSeconds: number];

export const NO_LEASE: ReplicaLease = [0, 0];

/**
 * The lease that the settings of a server allow. A replica confirms once a second, and the lag in whole seconds that
 * Redis reports is up to one longer than the time that has passed: so one more is accepted, or reads would be refused
 * now and then.
 */
export function leaseOf(config: Info): ReplicaLease {
  const [replicas, lag] = ['min-replicas-to-write', 'min-replicas-max-lag'].map((name) =>
    Number(config.get(name) ?? 0),
  );
  return replicas! > 0 && lag! > 0 ? [replicas!, lag! + 1] : NO_LEASE;
}

export function checkServer(facts: ServerFacts, requirements: Requirements): readonly Finding[] {
  if (facts.info === '') return [INFO_FORBIDDEN];
  const info = new Map(
    facts.info
      .split('\r\n')
      .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)] as const),
  );
  return [
    role(info),
    database(facts),
    eviction(info),
    persistence(info, facts.config),
    memory(info),
    disk(info, facts.config),
    replicas(info, facts.config, requirements),
    staleReads(info, facts.config, requirements),
  ].filter((finding) => finding !== undefined);
}

type Info = ReadonlyMap<string, string>;

function role(info: Info): Finding | undefined {
  if (info.get('role') !== 'slave') return undefined;
  return {
    name: 'replica',
    text: 'this Redis is a replica: connect to its primary (REDIS_URL), or through Sentinel (REDIS_SENTINELS)',
  };
}

function database({ missingDatabase, config }: ServerFacts): Finding | undefined {
  if (missingDatabase === undefined) return undefined;
  const count = config.get('databases');
  const numbers = count === undefined ? '' : `, only 0 to ${Number(count) - 1}`;
  return {
    name: 'missing_database',
    text: `it has no database ${missingDatabase}${numbers}: name another one in REDIS_URL, or raise databases in its configuration file and restart it`,
  };
}

function eviction(info: Info): Finding | undefined {
  const policy = info.get('maxmemory_policy')!;
  if (policy === 'noeviction') return undefined;
  return {
    name: 'evicts',
    text: `maxmemory-policy is ${policy}, which lets Redis delete events: ${persistentSetting('maxmemory-policy noeviction')}`,
  };
}

function persistence(info: Info, config: Info): Finding | undefined {
  const appendOnlyFile = info.get('aof_enabled');
  const fsync = config.get('appendfsync');
  if (appendOnlyFile === '0')
    return {
      name: 'no_append_only_file',
      text: `appendonly is off: a crash of Redis loses acknowledged writes: ${persistentSetting('appendonly yes')}`,
    };
  if (fsync === undefined)
    return { name: 'unknown_fsync', text: 'appendfsync could not be read: make sure that it is always' };
  if (fsync === 'always') return undefined;
  return {
    name: 'late_fsync',
    text: `appendfsync is ${fsync}: a crash of the machine loses the last acknowledged writes: ${persistentSetting('appendfsync always')}`,
  };
}

/** The condition on which Redis answers OOM. */
function memory(info: Info): Finding | undefined {
  const bytes = (name: string) => Number(info.get(name) ?? 0);
  const limit = bytes('maxmemory');
  if (limit === 0 || bytes('used_memory') - bytes('mem_not_counted_for_evict') <= limit) return undefined;
  return problemOfAppends('out_of_memory');
}

/** The condition on which Redis answers MISCONF. */
function disk(info: Info, config: Info): Finding | undefined {
  const fileFails = info.get('aof_enabled') === '1' && info.get('aof_last_write_status') === 'err';
  const snapshotFails =
    info.get('rdb_last_bgsave_status') === 'err' &&
    config.get('stop-writes-on-bgsave-error') === 'yes' &&
    (config.get('save') ?? '') !== '';
  return fileFails || snapshotFails ? problemOfAppends('disk_error') : undefined;
}

/** The condition on which Redis answers NOREPLICAS, or WAIT fails. */
function replicas(info: Info, config: Info, { waitReplicas }: Requirements): Finding | undefined {
  const connected = [...info].filter(
    ([name, value]) => /^slave\d+$/.test(name) && value.includes('state=online'),
  );
  const good = Number(info.get('min_slaves_good_slaves') ?? Infinity);
  const enough =
    (!info.has('connected_slaves') || connected.length >= waitReplicas) &&
    good >= Number(config.get('min-replicas-to-write') ?? 0);
  return enough ? undefined : problemOfAppends('replicas_missing');
}

/**
 * The conditions on which an isolated primary may answer stale reads: it does not notice in time that a replica was
 * promoted. Without replicas there is no such condition.
 */
function staleReads(info: Info, config: Info, { downAfterMs }: Requirements): Finding | undefined {
  const connected = Number(info.get('connected_slaves') ?? 0);
  if (connected === 0 || info.get('role') !== 'master') return undefined;
  const [replicas, lag] = leaseOf(config);
  const takesOverMs = downAfterMs ?? Number(config.get('cluster-node-timeout') ?? Infinity);
  const stale = (why: string): Finding => ({
    name: 'stale_reads',
    text: `during a network partition lists may lack writes that another primary acknowledged: ${why}`,
  });
  if (!config.has('min-replicas-to-write'))
    return stale('min-replicas-to-write could not be read, so grant CONFIG GET');
  // With its primary a majority of the servers, so that no two primaries have so many at a time.
  const majority = Math.floor((connected + 1) / 2);
  if (replicas < majority)
    return stale(
      `min-replicas-to-write is ${replicas}, and ${connected} replicas follow: ${persistentSetting(`min-replicas-to-write ${majority}`)}`,
    );
  // Whole seconds: almost one more may have passed.
  if ((lag + 1) * 1000 > takesOverMs)
    return stale(
      `min-replicas-max-lag is ${lag - 1} s, and a replica may take over after ${takesOverMs} ms: it must be two seconds shorter: ${persistentSetting('min-replicas-max-lag 1')}`,
    );
  return undefined;
}

const INFO_FORBIDDEN: Finding = {
  name: 'info_forbidden',
  text: 'INFO is forbidden, which shows whether Redis is a primary and keeps what it acknowledges: grant +info to its user',
};

const PROBLEMS_OF_APPENDS = {
  out_of_memory:
    'it has reached maxmemory and refuses writes (OOM): raise maxmemory, or erase what is not needed',
  disk_error:
    'it cannot write its append-only file or its snapshot and refuses writes (MISCONF): read its log, and make room on its disk',
  replicas_missing:
    'fewer replicas follow it than a write has to reach (REDIS_WAIT_REPLICAS), or a write and a read (min-replicas-to-write): bring them back',
} as const;

/** A finding that a refused append shows, too. */
export function problemOfAppends(name: keyof typeof PROBLEMS_OF_APPENDS): Finding {
  return { name, text: PROBLEMS_OF_APPENDS[name] };
}

/** Commands that survive a restart. With CONFIG SET alone, the append-only file would not even be read. */
function persistentSetting(setting: string): string {
  return `CONFIG SET ${setting}, then CONFIG REWRITE, or ${setting} in its configuration file, else it is forgotten at its next start`;
}
