import { expect } from 'chai';
import { FINDINGS, checkServer } from '../../../src/adapters/redis/server-checks';

const INFO = {
  redis_version: '7.0.15',
  maxmemory_policy: 'noeviction',
  maxmemory: '0',
  used_memory: '1000000',
  mem_not_counted_for_evict: '0',
  aof_enabled: '1',
  aof_last_write_status: 'ok',
  rdb_last_bgsave_status: 'ok',
  role: 'master',
  connected_slaves: '0',
};
const CONFIG = {
  appendfsync: 'always',
  databases: '16',
  'min-replicas-max-lag': '10',
  'min-replicas-to-write': '0',
  save: '',
  'stop-writes-on-bgsave-error': 'yes',
};

interface Changes {
  readonly info?: Readonly<Record<string, string>>;
  readonly config?: Readonly<Record<string, string>>;
  readonly missingDatabase?: number;
  readonly waitReplicas?: number;
  readonly downAfterMs?: number;
}

/** The findings of a correctly configured Redis with `changes`. */
function findings({ info = {}, config = {}, missingDatabase, waitReplicas = 0, downAfterMs }: Changes) {
  const lines = Object.entries({ ...INFO, ...info }).map(([name, value]) => `${name}:${value}`);
  const facts = {
    info: ['# Server', ...lines, ''].join('\r\n'),
    config: new Map(Object.entries({ ...CONFIG, ...config })),
    missingDatabase,
  };
  return checkServer(facts, { waitReplicas, downAfterMs });
}

const names = (changes: Changes) => findings(changes).map(({ name }) => name);
const refusalsOfWrites = (changes: Changes) =>
  names(changes).filter((name) => FINDINGS[name] === 'no writes');
const LASTS = /, then CONFIG REWRITE, or .+ in its configuration file/;

describe('A Redis', () => {
  it('that evicts nothing and syncs every write has no findings', () => {
    expect(findings({})).to.deep.equal([]);
  });

  it('that is a replica is refused, with advice where to connect', () => {
    const [finding] = findings({ info: { role: 'slave' } });
    expect(finding!.name).to.equal('replica');
    expect(FINDINGS.replica).to.equal('refuse all');
    expect(finding!.text).to.include('REDIS_URL').and.to.include('REDIS_SENTINELS');
  });

  for (const policy of ['allkeys-lru', 'allkeys-lfu', 'allkeys-random', 'volatile-lru', 'volatile-ttl']) {
    it(`that evicts by ${policy} is refused, with the command that corrects it`, () => {
      const [finding] = findings({ info: { maxmemory_policy: policy } });
      expect(finding!.name).to.equal('evicts');
      expect(FINDINGS.evicts).to.equal('refuse all');
      expect(finding!.text)
        .to.include(`maxmemory-policy is ${policy}`)
        .and.to.include('CONFIG SET maxmemory-policy noeviction')
        .and.to.match(LASTS);
    });
  }

  it('that does not have the database is refused, with the existing ones', () => {
    const [finding] = findings({ missingDatabase: 99 });
    expect(finding!.name).to.equal('missing_database');
    expect(FINDINGS.missing_database).to.equal('refuse all');
    expect(finding!.text).to.match(/no database 99, only 0 to 15: name another one in REDIS_URL, or raise/);
  });

  it('with several problems is refused with all of them at once', () => {
    expect(
      names({ info: { role: 'slave', maxmemory_policy: 'allkeys-lru', aof_enabled: '0' } }),
    ).to.deep.equal(['replica', 'evicts', 'no_append_only_file']);
  });

  describe('is used, with a warning and a lasting correction,', () => {
    for (const [what, changes, name, advice] of [
      [
        'that keeps no append-only file',
        { info: { aof_enabled: '0' } },
        'no_append_only_file',
        'CONFIG SET appendonly yes',
      ],
      [
        'that syncs once a second',
        { config: { appendfsync: 'everysec' } },
        'late_fsync',
        'CONFIG SET appendfsync always',
      ],
      [
        'that leaves syncing to the kernel',
        { config: { appendfsync: 'no' } },
        'late_fsync',
        'CONFIG SET appendfsync always',
      ],
    ] as const) {
      it(what, () => {
        const [finding, ...more] = findings(changes);
        expect(more).to.deep.equal([]);
        expect(finding!.name).to.equal(name);
        expect(FINDINGS[name]).to.equal('warn');
        expect(finding!.text).to.include(advice).and.to.match(LASTS);
      });
    }

    it('that forbids CONFIG', () => {
      const lines = Object.entries(INFO).map(([name, value]) => `${name}:${value}`);
      const facts = { info: lines.join('\r\n'), config: new Map<string, string>() };
      const found = checkServer(facts, { waitReplicas: 0, downAfterMs: undefined });
      expect(found.map(({ name }) => name)).to.deep.equal(['unknown_fsync']);
    });
  });

  it('that forbids INFO is refused', () => {
    const facts = { info: '', config: new Map<string, string>() };
    const [finding, ...more] = checkServer(facts, { waitReplicas: 0, downAfterMs: undefined });
    expect(more).to.deep.equal([]);
    expect(finding!.name).to.equal('info_forbidden');
    expect(finding!.text).to.include('+info');
    expect(FINDINGS.info_forbidden).to.equal('refuse all');
  });

  describe('whose reads may be stale during a partition', () => {
    const replicas = (count: number) => ({ connected_slaves: String(count) });
    const settings = (write: number, lag: number) => ({
      'min-replicas-to-write': String(write),
      'min-replicas-max-lag': String(lag),
    });

    for (const [what, changes, advice] of [
      ['because it demands no replicas', { info: replicas(2) }, 'min-replicas-to-write 1'],
      [
        'because it demands so few replicas that the others are a majority',
        { info: replicas(3), config: settings(1, 1) },
        'min-replicas-to-write 2',
      ],
      [
        'because it demands replicas of any lag',
        { info: replicas(1), config: settings(1, 0) },
        'min-replicas-to-write 1',
      ],
      [
        'because a replica takes over after less than two seconds more than the lag',
        { info: replicas(1), config: settings(1, 4), downAfterMs: 5999 },
        'min-replicas-max-lag 1',
      ],
      [
        'because a node of the Cluster is replaced after less than two seconds more than the lag',
        { info: replicas(1), config: { ...settings(1, 4), 'cluster-node-timeout': '5999' } },
        'min-replicas-max-lag 1',
      ],
    ] as const) {
      it(`is reported, ${what}, with the setting that corrects it`, () => {
        const [finding, ...more] = findings(changes).filter(({ name }) => name === 'stale_reads');
        expect(more).to.deep.equal([]);
        expect(FINDINGS.stale_reads).to.equal('warn');
        expect(finding!.text).to.include(advice).and.to.match(LASTS);
      });
    }

    it('is reported if CONFIG is forbidden', () => {
      const info = Object.entries({ ...INFO, ...replicas(1) }).map(([name, value]) => `${name}:${value}`);
      const facts = { info: info.join('\r\n'), config: new Map<string, string>() };
      const found = checkServer(facts, { waitReplicas: 0, downAfterMs: undefined });
      expect(found.find(({ name }) => name === 'stale_reads')!.text).to.include('CONFIG GET');
    });

    for (const [what, changes] of [
      ['that has no replicas', {}],
      ['that is a replica with replicas', { info: { role: 'slave', ...replicas(1) } }],
      [
        'that is a majority with the replicas that must have confirmed its writes in time',
        { info: replicas(2), config: settings(1, 3), downAfterMs: 5000 },
      ],
      ['that no Sentinel watches', { info: replicas(1), config: settings(1, 10) }],
    ] as const) {
      it(`unlike one ${what}`, () => {
        expect(names(changes)).to.not.include('stale_reads');
      });
    }
  });

  describe('accepts no writes', () => {
    for (const [what, changes, name] of [
      ['above its maxmemory', { info: { maxmemory: '999999' } }, 'out_of_memory'],
      ['that cannot write its append-only file', { info: { aof_last_write_status: 'err' } }, 'disk_error'],
      [
        'that cannot write a snapshot',
        { info: { rdb_last_bgsave_status: 'err' }, config: { save: '3600 1' } },
        'disk_error',
      ],
      [
        'with fewer replicas than it demands',
        { info: { min_slaves_good_slaves: '0' }, config: { 'min-replicas-to-write': '1' } },
        'replicas_missing',
      ],
      ['with fewer replicas than a write has to reach', { waitReplicas: 1 }, 'replicas_missing'],
      [
        'with a replica that is not online yet',
        {
          info: { connected_slaves: '1', slave0: 'ip=127.0.0.1,port=6380,state=wait_bgsave' },
          waitReplicas: 1,
        },
        'replicas_missing',
      ],
      [
        'with fields whose names or values only resemble those of a replica',
        {
          info: {
            connected_slaves: '1',
            other: 'state=online',
            xslave0: 'state=online',
            slave0x: 'state=online',
          },
          waitReplicas: 1,
        },
        'replicas_missing',
      ],
    ] as const) {
      it(what, () => {
        expect(refusalsOfWrites(changes)).to.deep.equal([name]);
      });
    }

    for (const [what, changes] of [
      ['below its maxmemory', { info: { maxmemory: '1000000' } }],
      ['above it by what does not count', { info: { maxmemory: '999999', mem_not_counted_for_evict: '1' } }],
      ['that can write snapshots', { config: { save: '3600 1' } }],
      [
        'with the replicas that it demands',
        { info: { min_slaves_good_slaves: '1' }, config: { 'min-replicas-to-write': '1' } },
      ],
      [
        'with its eleventh replica as the only one',
        { info: { connected_slaves: '1', slave10: 'state=online' }, waitReplicas: 1 },
      ],
      ['that takes no snapshots', { info: { rdb_last_bgsave_status: 'err' } }],
      [
        'that accepts writes without snapshots',
        {
          info: { rdb_last_bgsave_status: 'err' },
          config: { save: '3600 1', 'stop-writes-on-bgsave-error': 'no' },
        },
      ],
      [
        'with the replica that a write has to reach',
        {
          info: { connected_slaves: '1', slave0: 'ip=127.0.0.1,port=6380,state=online,offset=1,lag=0' },
          waitReplicas: 1,
        },
      ],
    ] as const) {
      it(`unlike one ${what}`, () => {
        expect(refusalsOfWrites(changes)).to.deep.equal([]);
      });
    }
  });
});
