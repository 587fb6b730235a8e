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

  it('see their own plants and nobody else’s, whatever they are called', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(anyUser, { minLength: 2, maxLength: 8 }), async (users) => {
        // The same id for all of them; and ids of their own for each round, since users come again.
        const id = ++round;
        for (const [index, user] of users.entries()) {
          const { status } = await service.ask(await as(user), 'POST', { id, name: `${id} of ${index}` });
          expect(status).to.equal(200);
        }
        for (const [index, user] of users.entries()) {
          const { body } = await service.ask(await as(user));
          const ofThisRound = (body as { name: string }[]).filter(({ name }) => name.startsWith(`${id} of`));
          expect(ofThisRound).to.deep.equal([{ name: `${id} of ${index}` }]);
        }
      }),
      { numRuns: process.env['LONG'] === '1' ? 200 : 15 },
    );
  });
});
