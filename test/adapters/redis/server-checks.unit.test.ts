import { expect } from 'chai';
import { checkServer } from '../../../src/adapters/redis/server-checks';

/** What `INFO` says of a Redis as it should be, but for `changes`. */
function info(changes: Record<string, string> = {}): string {
  const facts = { redis_version: '7.0.15', maxmemory_policy: 'noeviction', aof_enabled: '1', role: 'master' };
  const lines = Object.entries({ ...facts, ...changes }).map(([name, value]) => `${name}:${value}`);
  return ['# Server', ...lines, ''].join('\r\n');
}

describe('A Redis', () => {
  it('that keeps everything and syncs every write has nothing to be said about it', () => {
    expect(checkServer(info(), 'always')).to.deep.equal({ refusals: [], warnings: [] });
  });

  it('that is a replica is refused, and told where to connect', () => {
    expect(checkServer(info({ role: 'slave' }), 'always')).to.deep.equal({
      refusals: [
        'this Redis is a replica: connect to its primary (REDIS_URL), or through Sentinel (REDIS_SENTINELS)',
      ],
      warnings: [],
    });
  });

  for (const policy of ['allkeys-lru', 'allkeys-lfu', 'allkeys-random', 'volatile-lru', 'volatile-ttl']) {
    it(`that evicts by ${policy} is refused, with the command that mends it`, () => {
      expect(checkServer(info({ maxmemory_policy: policy }), 'always')).to.deep.equal({
        refusals: [
          `maxmemory-policy is ${policy}, which lets Redis throw events away: CONFIG SET maxmemory-policy noeviction`,
        ],
        warnings: [],
      });
    });
  }

  it('with several faults is told all of them at once', () => {
    const { refusals, warnings } = checkServer(
      info({ role: 'slave', maxmemory_policy: 'allkeys-lru', aof_enabled: '0' }),
      'everysec',
    );
    expect(refusals).to.have.lengthOf(2);
    expect(warnings).to.have.lengthOf(1);
  });

  const warned = {
    'that keeps no append-only file': {
      findings: checkServer(info({ aof_enabled: '0' }), 'always'),
      warning: 'appendonly is off: a crash of Redis loses acknowledged writes: CONFIG SET appendonly yes',
    },
    'that syncs once a second': {
      findings: checkServer(info(), 'everysec'),
      warning:
        'appendfsync is everysec: a crash of the machine loses the last acknowledged writes: CONFIG SET appendfsync always',
    },
    'that leaves syncing to the kernel': {
      findings: checkServer(info(), 'no'),
      warning:
        'appendfsync is no: a crash of the machine loses the last acknowledged writes: CONFIG SET appendfsync always',
    },
    'that does not let CONFIG be read': {
      findings: checkServer(info(), undefined),
      warning: 'appendfsync could not be read: make sure that it is always',
    },
  };
  for (const [what, { findings, warning }] of Object.entries(warned)) {
    it(`${what} is used, with a warning that says what to do`, () => {
      expect(findings).to.deep.equal({ refusals: [], warnings: [warning] });
    });
  }

  it('that forbids INFO as well is used, with a warning for each thing that could not be seen', () => {
    expect(checkServer('', undefined)).to.deep.equal({
      refusals: [],
      warnings: [
        'maxmemory-policy could not be read: make sure that it is noeviction',
        'persistence could not be checked: make sure that appendonly is yes and appendfsync always',
      ],
    });
  });
});
