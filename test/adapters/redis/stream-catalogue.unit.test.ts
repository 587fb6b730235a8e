import { expect } from 'chai';
import type { RedisConnection } from '../../../src/adapters/redis/connection';
import { RedisStreamCatalogue } from '../../../src/adapters/redis/stream-catalogue';

/** The replies to SCAN, in order: the next cursor, and the keys. */
function catalogueOver(replies: readonly (readonly [string, readonly string[]])[]): RedisStreamCatalogue {
  const waiting = [...replies];
  const client = {
    scan: async () => waiting.shift(),
    callBuffer: async (_command: string, _script: string, keys: number) =>
      Array.from({ length: keys }, () => Buffer.from('7-0')),
  };
  const connection = { client, mustBePrimary: async () => {} } as unknown as RedisConnection;
  return new RedisStreamCatalogue(connection, { keyPrefix: 'plant-store', waitReplicas: 0 });
}

describe('The stream catalogue of Redis', () => {
  it('lists a stream once whose key SCAN returns several times', async () => {
    const [alice, bob] = ['plant-store:{39}:alice:events', 'plant-store:{20}:bob:events'];
    const catalogue = catalogueOver([
      ['5', [alice, alice]],
      ['0', [bob, alice]],
    ]);
    const found = [];
    for await (const one of catalogue.streams()) found.push(one);
    expect(found).to.deep.equal([
      { stream: 'alice', version: 7 },
      { stream: 'bob', version: 7 },
    ]);
  });
});
