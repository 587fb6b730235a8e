import { expect } from 'chai';
import { describeOwnRedis, describeRedis } from '.';

// Run by describe-redis.unit.test.ts, on machines that have this Redis or that.

describeRedis('a suite on the shared Redis', (redis) => {
  it('talks to it', async () => {
    expect(await redis.admin.ping()).to.equal('PONG');
  });

  describe('has a suite in it', () => {
    before(() => expect(redis.url).to.match(/^redis:/));
    it('that talks to it', async () => {
      expect(await redis.admin.ping()).to.equal('PONG');
    });
  });
});

describeOwnRedis('a suite with a Redis of its own', (startRedis) => {
  it('starts it', async () => {
    expect((await startRedis()).url).to.match(/^redis:/);
  });
});
