import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { compiledCli } from '../../support/compiled-cli';
import { startInstance } from '../../support/instance';
import { keyOf } from '../../support/keys';
import { describeOwnRedis } from '../../support/redis';
import { rejection } from '../../support/rejection';
import { OLD_ID } from './old-layout';
import { openStore } from './open-store';

const SEED = Number(process.env['SEED'] ?? randomInt(2 ** 31));
const USERS = 6000;
const KILLS = 3;

/** Streams and bases of many users as a version without buckets wrote them. */
const FILL = `
for user = 1, ARGV[1] do
  local own = 'plant-store:{user' .. user .. '}:'
  redis.call('XADD', own .. 'events', '1-0', 'type', 'PlantCreated', 'data', '{"id":1,"name":"Fern"}', 'commit', user)
  redis.call('HSET', own .. 'base', 'version', 1, 'commit', user)
end
redis.call('XADD', 'plant-store:store:{identity}:events', '1-0', 'id', ARGV[2])
`;

describeOwnRedis(`A conversion that is killed again and again, SEED=${SEED},`, (startRedis) => {
  const bash = compiledCli();

  for (const victim of ['the command', 'Redis'] as const)
    it(`loses no key of any user, and completes when it is repeated: ${victim}`, async function () {
      this.timeout(120_000);
      const redis = await startRedis('--appendonly', 'yes', '--appendfsync', 'always');
      await redis.admin.eval(FILL, 0, USERS, OLD_ID);
      const environment = { EVENT_STORE: 'redis', REDIS_URL: redis.url };
      const convert = () => bash('exec plant-store events convert --quiet', environment);
      const converted = async () => (await redis.admin.keys('plant-store:{*}:plants/*:events')).length;

      let partial = 0;
      for (let kill = 0; kill < KILLS; kill++) {
        const before = await converted();
        const { child, ended } = convert();
        while (child.exitCode === null && (await converted()) === before) continue;
        await pause(((SEED >> kill) % 8) * 5);
        if (victim === 'Redis') await redis.kill9();
        else child.kill('SIGKILL');
        const { code } = await ended;
        if (victim === 'Redis') await redis.start();
        expect(await redis.admin.dbsize()).to.equal(2 * USERS + 1);
        for (let user = 1; user <= USERS; user += 499) {
          const own = [`plant-store:{user${user}}:events`, `plant-store:{user${user}}:base`];
          const other = [keyOf(`user${user}`), keyOf(`user${user}`, 'plant-store', 'base')];
          const found = await Promise.all([redis.admin.exists(...own), redis.admin.exists(...other)]);
          expect(found, `user${user}: old and new keys`).to.have.members([0, 2]);
        }
        if (code === 0) break;
        if ((await converted()) < USERS) partial++;
        expect(((await rejection(startInstance({ REDIS_URL: redis.url }))) as Error).message).to.include(
          'its conversion was not completed',
        );
      }
      expect(partial, 'kills between users').to.be.greaterThan(0);

      const { code, error } = await convert().ended;
      expect({ code, error }).to.deep.equal({ code: 0, error: '' });
      expect(await converted()).to.equal(USERS);
      const { catalogue, close } = await openStore(redis.url);
      let streams = 0;
      for await (const found of catalogue.streams()) {
        expect(found).to.include({ version: 1 });
        streams++;
      }
      await close();
      expect(streams).to.equal(USERS);
    });
});
