import { expect } from 'chai';
import fc from 'fast-check';
import type { User } from '../../../src/application';
import { describeRedis } from '../../support/redis';
import { anyUser } from './any-user';
import { type Serving, serve } from './serving';
import { AUDIENCE, ISSUER, SECRET, signed } from './signing';

describeRedis('Users on Redis', (redis) => {
  let service: Serving;
  let round = 0;

  before(async () => {
    service = await serve({
      EVENT_STORE: 'redis',
      REDIS_URL: redis.url,
      REDIS_KEY_PREFIX: redis.prefix,
      AUTH_JWT_SECRET: Buffer.from(SECRET).toString(),
      AUTH_JWT_ISSUER: ISSUER,
      AUTH_JWT_AUDIENCE: AUDIENCE,
    });
  });
  after(() => service.stop());

  const as = async (user: User) =>
    `Bearer ${await signed(SECRET, { sub: user, exp: Math.floor(Date.now() / 1000) + 300 })}`;

  it('see only their own plants, for any names', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(anyUser, { minLength: 2, maxLength: 8 }), async (users) => {
        // The same id for all users; different ids for each iteration, since users occur again.
        const id = ++round;
        for (const [index, user] of users.entries()) {
          const { status } = await service.ask(await as(user), 'POST', { id, name: `${id} of ${index}` });
          expect(status).to.equal(200);
        }
        for (const [index, user] of users.entries()) {
          const { names } = await service.ask(await as(user));
          expect(names!.filter((name) => name.startsWith(`${id} of`))).to.deep.equal([`${id} of ${index}`]);
        }
      }),
      { numRuns: process.env['LONG'] === '1' ? 200 : 15 },
    );
  });
});
