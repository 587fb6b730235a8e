import { expect } from 'chai';
import { type Redis, ReplyError } from 'ioredis';
import { examineServers } from '../../../src/adapters/redis/examination';
import { ManualClock } from '../../support/manual-clock';
import { Findings } from '../../../src/adapters/redis/findings';
import { Keys } from '../../../src/adapters/redis/keys';
import { Lineages } from '../../../src/adapters/redis/lineages';
import { CHECKS } from '../../../src/adapters/redis/server-checks';

/** What INFO and CONFIG say of a primary that evicts nothing and syncs every write. */
const NORMAL = `redis_version:7.0.15 role:master connected_slaves:0 maxmemory_policy:noeviction maxmemory:0
  used_memory:1000 mem_not_counted_for_evict:0 aof_enabled:1 aof_last_write_status:ok rdb_last_bgsave_status:ok
  appendfsync:always databases:16 min-replicas-max-lag:10 min-replicas-to-write:0 save:
  stop-writes-on-bgsave-error:yes`;

/**
 * What differs; a value may be missing, and `error` is the code of an error reply to INFO or
 * CONFIG. Then the findings with their effects, and a part of the text of the first one.
 */
const FOUND = `
                                     |
role:slave                           | no calls: replica | REDIS_URL.*REDIS_SENTINELS
maxmemory_policy:volatile-ttl        | no calls: evicts | volatile-ttl.*SET maxmemory-policy noeviction, then
maxmemory_policy redis_version       | warn: unknown_eviction | maxmemory_policy
redis_version:6.2.14                 | no calls: too_old | 6.2.14.* 7.0 or later
redis_version:10.0.1                 |
database:3                           |
database:99                          | no calls: missing_database | no database 99, only 0 to 15: name another
info:NOPERM                          | warn: info_forbidden | INFO is refused: grant .info
config:DENIED                        | warn: unknown_fsync | appendfsync could not be read
aof_enabled:0                        | warn: no_append_only_file | SET appendonly yes, and CONFIG REWRITE once
appendfsync:everysec                 | warn: late_fsync | SET appendfsync always, then CONFIG REWRITE
no-appendfsync-on-rewrite:yes        | warn: fsync_pauses | SET no-appendfsync-on-rewrite no, then CONFIG REWRITE
no-appendfsync-on-rewrite:yes appendfsync:everysec | warn: late_fsync
replica-read-only:no                 | warn: writable_replica | SET replica-read-only yes, then CONFIG REWRITE
role:slave maxmemory_policy:lru      | no calls: replica, no calls: evicts
role:slave connected_slaves:1 aof_enabled:0 | no calls: replica, warn: no_append_only_file
maxmemory:999                        | no writes: out_of_memory
maxmemory:1000                       |
maxmemory:999 mem_not_counted_for_evict:1 |
aof_last_write_status:err            | no writes: disk_error
rdb_last_bgsave_status:err           |
rdb_last_bgsave_status:err save:3600 | no writes: disk_error
rdb_last_bgsave_status:err save:3600 stop-writes-on-bgsave-error:no |
min-replicas-to-write:1 min_slaves_good_slaves:0 | no writes: replicas_missing
waitReplicas:1                       | no writes: replicas_missing
waitReplicas:1 slave10:state=online  |
waitReplicas:1 slave0:state=wait_bgsave | no writes: replicas_missing
waitReplicas:1 xslave0:state=online slave0x:state=online | no writes: replicas_missing
connected_slaves:2                   | warn: stale_reads | SET min-replicas-to-write 1
connected_slaves:3 min-replicas-to-write:1 min-replicas-max-lag:1 | warn: stale_reads | SET min-replicas-to-write 2
connected_slaves:1 min-replicas-to-write:1 min-replicas-max-lag:0 | warn: stale_reads | is 0.*SET min-replicas-max-lag 1
connected_slaves:1 min-replicas-to-write:1 min-replicas-max-lag:4 downAfterMs:5999 | warn: stale_reads | max-lag
connected_slaves:1 min-replicas-to-write:1 min-replicas-max-lag:4 cluster-node-timeout:5999 | warn: stale_reads | 5999
connected_slaves:2 min-replicas-to-write:1 min-replicas-max-lag:3 downAfterMs:5000 |
connected_slaves:1 min-replicas-to-write:1 min_slaves_good_slaves:1 |
connected_slaves:1 config:NOPERM     | warn: unknown_fsync, warn: stale_reads
`;

/** Names with their values; `undefined` where there is none. */
const pairs = (text: string) => {
  const found = [...text.matchAll(/([\w-]+)(?::(\S*))?/g)].map(([, name, value]) => [name, value]);
  return Object.fromEntries(found) as Record<string, string | undefined>;
};

async function examined(changes: string) {
  const facts = { ...pairs(NORMAL), ...pairs(changes) };
  const entries = Object.entries(facts).filter(([, value]) => value !== undefined);
  const failWith = (message: string | undefined) => {
    if (message)
      throw new (ReplyError as unknown as new (message: string) => Error)(
        `${message} in its words`,
      );
  };
  const client = {
    options: { db: Number(facts['database'] ?? 0) },
    info: async () => (
      failWith(facts['info']),
      entries.map((entry) => entry.join(':')).join('\r\n')
    ),
    config: async () => (failWith(facts['config']), entries.flat()),
    select: async (number: number) => (
      failWith(number > 15 ? 'ERR DB index is out of range' : ''),
      'OK'
    ),
  };
  return examineServers(client as unknown as Redis, {
    waitReplicas: Number(facts['waitReplicas'] ?? 0),
    downAfterMs: facts['downAfterMs'] ? Number(facts['downAfterMs']) : undefined,
  });
}

describe('The examination of a Redis server', () => {
  for (const row of FOUND.slice(1, -1).split('\n')) {
    const [changes = '', found = '', text = ''] = row.split('|').map((part) => part.trim());
    it(`finds ${found ? `"${found}"` : 'nothing'} with ${changes || 'a correct configuration'}`, async () => {
      const [{ findings } = expect.fail()] = (await examined(changes)).servers;
      expect(findings.map(({ name }) => `${CHECKS[name].effect}: ${name}`).join(', ')).to.equal(
        found,
      );
      expect(findings[0]?.text ?? '').to.match(new RegExp(text));
    });
  }

  for (const code of ['LOADING', 'NOAUTH', 'BUSY', 'MASTERDOWN'])
    it(`rejects if the server answers ${code}`, async () => {
      for (const command of ['info', 'config'])
        expect(await examined(`${command}:${code}`).catch(String)).to.include(code);
    });

  for (const [changes, lease] of [
    ['min-replicas-to-write:1 min-replicas-max-lag:3', { replicas: 1, lagSeconds: 4 }],
    ['config:NOPERM', { replicas: 0, lagSeconds: 0 }],
  ] as const)
    it(`finds how many replicas must confirm within their lag plus one second: ${changes}`, async () => {
      expect((await examined(changes)).lease).to.deep.equal(lease);
    });
});

describe('The finding of an error reply', () => {
  it('lasts for a limited time after each reply, and is logged each time', async () => {
    const clock = new ManualClock();
    const log: string[] = [];
    const findings = new Findings((level, message) => log.push(`${level} ${message}`), 1000, clock);
    for (let time = 1; time <= 2; time++) {
      findings.noteErrorReply('OOM command not allowed');
      await clock.pass(999);
      expect(findings.serious, `time ${time}`).to.deep.equal(['out_of_memory']);
      await clock.pass(1);
      findings.noteExamination({}, []);
      expect(findings.serious, `time ${time}`).to.deep.equal([]);
      expect(log.splice(0).map((line) => line.slice(0, 30))).to.deep.equal([
        'error Redis: it has reached ma',
        'info Redis finding resolved: o',
      ]);
    }
  });
});

describe('The lineage of a bucket of a Cluster', () => {
  it('counts as lost only if two examinations had found it, because a failover may lose a new one', async () => {
    const keys = new Keys('plant-store');
    const lineages = new Lineages();
    let stored: string[] = [];
    const zrange = async (key: string) => (key === keys.index(39) ? stored : []);
    const compare = () => lineages.compare({ zrange } as unknown as Redis, keys, true);
    const NEITHER = { lost: [], intact: 0 };
    for (const [found, expected] of [
      [['first'], NEITHER],
      [[], NEITHER],
      [['second'], NEITHER],
      [['third'], NEITHER],
      [['third'], NEITHER],
      [['third'], { lost: [], intact: 1 }],
      [[], { lost: [39], intact: 0 }],
      [['fourth'], { lost: [39], intact: 0 }],
      [['third'], { lost: [], intact: 1 }],
    ] as const) {
      stored = [...found];
      expect(await compare(), stored.join()).to.deep.equal(expected);
    }
  });
});
