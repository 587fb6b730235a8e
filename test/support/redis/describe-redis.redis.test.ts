import { expect } from 'chai';
import { type RedisServer, describeOwnRedis, describeRedis } from '.';

let former: { url: string; prefix: string };

describeRedis('a suite on the shared Redis', (redis) => {
  it('finds it under a prefix of its own', async () => {
    former = { url: redis.url, prefix: redis.prefix };
    await redis.admin.set(`${redis.prefix}:{fern}:events`, '1');
    expect(await redis.admin.keys(`${redis.prefix}*`)).to.deep.equal([`${redis.prefix}:{fern}:events`]);
  });
});

describeRedis('the next suite', (redis) => {
  it('finds the same Redis under another prefix, without the keys of the suite before', async () => {
    expect(redis.url).to.equal(former.url);
    expect(redis.prefix).not.to.equal(former.prefix);
    expect(await redis.admin.keys(`${former.prefix}*`)).to.deep.equal([]);
  });
});

describe('while the tests are loaded', () => {
  let asking: () => string;

  describeRedis('a suite', (redis) => {
    asking = () => redis.url;
    expect(asking).to.throw('open in hooks and tests only');

    it('has no Redis yet', () => {
      expect(asking()).to.match(/^redis/);
    });
  });
});

describeOwnRedis('a suite with Redis servers of its own', (startRedis) => {
  let ofTheSuite: RedisServer;
  let ofTheTest: RedisServer;
  before(async () => {
    ofTheSuite = await startRedis();
  });

  it('has them for a test', async () => {
    ofTheTest = await startRedis();
    expect(await ofTheTest.admin.ping()).to.equal('PONG');
  });

  it('or for the suite', async () => {
    expect(await ofTheSuite.admin.ping()).to.equal('PONG');
    expect(ofTheTest.admin.status).to.equal('end');
  });
});
