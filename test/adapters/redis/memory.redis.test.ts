import { expect } from 'chai';
import { mintCommit } from '../../../src/adapters/redis/commit-id';
import { BEGINNING, type Head } from '../../../src/event-sourcing';
import { encoded, created, plantId, plantsOf } from '../../support/given';
import { describeRedis } from '../../support/redis';
import { openStore } from './open-store';

const EVENTS = 10_000;

describeRedis('An event in Redis', (redis) => {
  for (const { ids, first, bytes } of [
    { ids: 'small ids', first: 1n, bytes: 100 },
    { ids: 'ids of 19 digits', first: 9_000_000_000_000_000_000n, bytes: 115 },
  ])
    it(`takes at most ${bytes} bytes with ${ids}, a name of 12 and a tag of 5 characters`, async () => {
      const keyPrefix = `${redis.prefix}-${bytes}`;
      const { store, close } = await openStore(redis.url, { keyPrefix });
      const stream = plantsOf('alice');

      let head: Head = BEGINNING;
      const append = async (index: number) => {
        const event = created(plantId(String(first + BigInt(index))), `Fern ${1_000_000 + index}`, 'shady');
        const expected = head;
        head = { version: index + 1, commit: mintCommit() };
        return (await store.append(stream, expected, head.commit, encoded(event))).status;
      };
      // The first alone, so that Redis knows the script when the others arrive in order.
      const statuses = new Set([await append(0)]);
      const others = Array.from({ length: EVENTS - 1 }, (_, index) => append(index + 1));
      for (const status of await Promise.all(others)) statuses.add(status);
      await close();

      expect([...statuses]).to.deep.equal(['appended']);
      const key = `${keyPrefix}:{39}:plants/alice:events`;
      expect(await redis.admin.xlen(key)).to.equal(EVENTS);
      expect((await redis.admin.memory('USAGE', key, 'SAMPLES', 0))! / EVENTS).to.be.at.most(bytes);
    });
});
