import { expect } from 'chai';
import { parseUser } from '../../../src/application';
import { newPlant, plantId } from '../../support/given';
import { describeRedis } from '../../support/redis';
import { openStore, plantsOver } from './open-store';

const ALICE = parseUser('alice')!;

describeRedis('A stream of the service in Redis', (redis) => {
  it('is readable with redis-cli', async () => {
    const key = `${redis.prefix}:{39}:plants/alice:events`;
    const { store, close } = await openStore(redis.url, { keyPrefix: redis.prefix });
    const plants = plantsOver(store);
    const id = plantId('9007199254740993');
    const start = Date.now();
    await plants.create(ALICE, newPlant(id, 'Büschelfarn', 'indoor'));
    await plants.create(ALICE, newPlant(-7, '"Moss"'));
    await plants.delete(ALICE, id);
    const end = Date.now();
    await close();

    const feed = `${redis.prefix}:{39}:feed`;
    expect(await redis.admin.keys(`${redis.prefix}*`)).to.have.members([feed, key]);
    expect(await redis.admin.type(key)).to.equal('stream');
    expect(await redis.admin.ttl(key), 'time to live').to.equal(-1);

    // As `redis-cli --raw XRANGE … - +` prints it, except for the commit ids.
    const lines = (await redis.admin.xrange(key, '-', '+')).flat(2);
    const commits = lines.filter((_, index) => lines[index - 1] === 'commit');
    expect(lines.map((line) => (commits.includes(line) ? '…' : line))).to.deep.equal([
      '1-0',
      'type',
      'PlantCreated',
      'data',
      '{"id":9007199254740993,"name":"Büschelfarn","tag":"indoor"}',
      'commit',
      '…',
      '2-0',
      'type',
      'PlantCreated',
      'data',
      '{"id":-7,"name":"\\"Moss\\""}',
      'commit',
      '…',
      '3-0',
      'type',
      'PlantDeleted',
      'data',
      '{"id":9007199254740993}',
      'commit',
      '…',
    ]);
    expect(new Set(commits).size).to.equal(3);
    for (const commit of commits) {
      expect(commit).to.match(/^\d{19}$/);
      expect(Number(commit.slice(0, 13)), 'when it happened').to.be.within(start, end);
    }
  });
});
