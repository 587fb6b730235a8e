import { expect } from 'chai';
import { BatchedReads } from '../../../src/adapters/redis/batched-reads';
import type { RedisConnection } from '../../../src/adapters/redis/connection';
import { oldGrowth } from '../../support/heap';

describe('The reads of Redis', () => {
  it('are garbage without a full collection', async () => {
    const client = { callBuffer: () => Promise.resolve([['read']]) };
    const proof = { keys: [], args: [0, 0, ''] };
    const reads = new BatchedReads({ client, proof } as unknown as RedisConnection);
    const grown = await oldGrowth(async () => {
      for (let count = 0; count < 50_000; count++)
        await reads.execute({ keys: ['events', 'base'], args: [7, 100, 1000] });
    });
    expect(grown).to.be.below(1_000_000);
  });
});
