import { cpSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { openStore, plantsOver } from '../../adapters/redis/open-store';
import { parseUser } from '../../../src/application';
import { describeOwnRedis } from '../../support/redis';
import { temporaryDirectory } from '../../support/temporary-directory';
import { checksOf } from './report';
import { SOAK, play } from './scenario';
import { PLANTS_EACH, soak } from './soak';
import { keyOf } from '../../support/keys';

/** On a busy machine, these checks may fail in a short run. */
const DEPENDS_ON_SPEED = /no request fails|rate|p50|p99/;

describeOwnRedis('A short soak', (startRedis) => {
  it('finds the service flat while it evicts and saves snapshots, and leaves each user the same number of plants', async function () {
    this.timeout(300_000).slow(90_000);
    const redis = await startRedis('--appendonly', 'yes');
    const seen: number[] = [];
    const result = await soak({ redisUrl: redis.url, minutes: 0.3 }, ({ minute }) => seen.push(minute));
    const failed = checksOf(result).filter(({ title, passed }) => !passed && !DEPENDS_ON_SPEED.test(title));
    expect(failed).to.deep.equal([]);
    const refused = result.samples.flatMap(({ failures }) => Object.keys(failures));
    expect(refused.filter((reason) => !reason.startsWith('503'))).to.deep.equal([]);
    expect(result.samples).to.have.length(18);
    expect(seen).to.deep.equal(result.samples.map(({ minute }) => minute));
    expect(result.rate).to.be.within(1, result.capacity / 2);

    expect(await redis.admin.exists(keyOf('user0', 'plant-store', 'snapshot'))).to.equal(1);
    const { store, close } = await openStore(redis.url);
    const users = ['user0', 'user1', 'user1000'].map((name) => parseUser(name)!);
    const lists = await Promise.all(users.map((user) => plantsOver(store).list(user))).finally(close);
    for (const { plants } of lists) expect(plants.length).to.be.closeTo(PLANTS_EACH, 10);
  });
});

describe('A soak of a service that leaks memory and descriptors', () => {
  const file = temporaryDirectory();

  it('fails both checks, and writes page and picture', async function () {
    if (SOAK['soak']!.unavailable() !== undefined) return this.skip();
    this.timeout(300_000).slow(90_000);
    cpSync('docs/scaling.md', file('scaling.md'));
    const { violations, write } = await play({ minutes: 0.2 }, [`${__dirname}/leak.cjs`]);
    expect(violations.join('\n'))
      .to.match(/^flat heap: /m)
      .and.to.match(/^flat file descriptors: /m);
    write(file(''));
    expect(readFileSync(file('scaling.md'), 'utf8')).to.match(/!\[0\.\d minutes at /);
    expect(readFileSync(file('soak.svg'), 'utf8')).to.contain('<polyline');
  });
});
