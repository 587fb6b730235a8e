import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { type RedisServer, describeOwnRedis, describeRedis } from '.';

let former: { url: string; prefix: string };
const stranger = `stranger-${randomUUID()}`;

describeRedis('a suite on the shared Redis', (redis) => {
  it('has its own prefix', async () => {
    former = { url: redis.url, prefix: redis.prefix };
    await redis.admin.set(`${redis.prefix}:{fern}:events`, '1');
    await redis.admin.set(stranger, '1');
    expect(await redis.admin.keys(`${redis.prefix}*`)).to.deep.equal([`${redis.prefix}:{fern}:events`]);
  });
});

describeRedis('the next suite', (redis) => {
  it('has the same Redis and another prefix, without the keys of the suite before, but with all others', async () => {
    expect(redis.url).to.equal(former.url);
    expect(redis.prefix).not.to.equal(former.prefix);
    expect(await redis.admin.keys(`${former.prefix}*`)).to.deep.equal([]);
    expect(await redis.admin.del(stranger)).to.equal(1);
  });
});

describe('before its hooks', () => {
  let asking: () => string;

  describeRedis('a suite', (redis) => {
    asking = () => redis.url;
    expect(asking).to.throw('open in hooks and tests only');

    it('has no Redis yet', () => {
      expect(asking()).to.match(/^redis/);
    });
  });
});

describeOwnRedis('a suite with its own Redis servers', (startRedis) => {
  let ofTheSuite: RedisServer;
  let ofTheTest: RedisServer;
  before(async () => {
    ofTheSuite = await startRedis();
  });

  it('has a server for one test', async () => {
    ofTheTest = await startRedis();
    expect(await ofTheTest.admin.ping()).to.equal('PONG');
  });

  it('has a server for the whole suite', async () => {
    expect(await ofTheSuite.admin.ping()).to.equal('PONG');
    expect(ofTheTest.admin.status).to.equal('end');
  });

  describe('and a nested suite', () => {
    let ofTheInnerSuite: RedisServer;
    before(async () => {
      ofTheInnerSuite = await startRedis();
    });

    for (const test of ['its first test', 'its second test']) {
      it(test, async () => {
        expect(await ofTheInnerSuite.admin.ping()).to.equal('PONG');
      });
    }
  });
});
