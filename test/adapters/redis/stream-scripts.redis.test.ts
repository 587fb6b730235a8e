import { expect } from 'chai';
import { PackedEntries } from '../../../src/adapters/redis/entry';
import { inOneExecution } from '../../../src/adapters/redis/many-calls';
import { executeScript } from '../../../src/adapters/redis/script';
import { type PackedPage, READ } from '../../../src/adapters/redis/stream-scripts';
import { NO_LEASE } from '../../../src/adapters/redis/server-checks';
import { describeRedis } from '../../support/redis';

const MAX_BYTES = 10_000;

describeRedis('The read script', (redis) => {
  let key: string;
  let keys: readonly string[];
  beforeEach(async () => {
    key = `${redis.prefix}:{59}:plants/ada:events`;
    keys = [key, `${redis.prefix}:{59}:plants/ada:base`];
    await redis.admin.del(key);
  });

  /** Adds entries with data of these lengths. */
  async function add(...lengths: readonly number[]): Promise<void> {
    for (const length of lengths) {
      const data = 'x'.repeat(length);
      await redis.admin.xadd(key, `${++version}-0`, 'type', 'Noted', 'data', data, 'commit', 'c');
    }
  }
  let version = 0;
  beforeEach(() => (version = 0));

  async function page(first: number, limit: number, bytes = MAX_BYTES) {
    const call = { keys, args: [first, limit, bytes] };
    const execution = inOneExecution([call], { keys: [], args: [...NO_LEASE, ''] });
    const [[more, packed]] = (await executeScript(redis.admin, READ, ...execution)) as [PackedPage];
    return [new PackedEntries(packed).rest().map(({ id }) => parseInt(id)), more];
  }

  const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

  it('returns as many entries as fit into the size', async () => {
    await add(...Array.from({ length: 40 }, () => 1000));
    // Each has 16 bytes of lengths, and its id, type and commit.
    const [ids, more] = await page(0, 40);
    expect(ids).to.deep.equal(upTo(9));
    expect(more).to.equal(1);
  });

  it('returns two entries at least, however large they are', async () => {
    await add(MAX_BYTES, 2 * MAX_BYTES, 1);
    expect(await page(0, 40)).to.deep.equal([[1, 2], 1]);
    expect(await page(2, 40)).to.deep.equal([[2, 3], 0]);
  });

  it('returns a large entry after small ones in the next page', async () => {
    await add(1, 1, 1, MAX_BYTES, 1);
    expect(await page(0, 40)).to.deep.equal([[1, 2, 3], 1]);
  });
});
