import { streamName } from '../../../src/testing/a-stream';
import { expect } from 'chai';
import { BEGINNING, StoreUnavailable, type StreamCatalogue } from '../../../src/event-sourcing';
import { streamCatalogueContract } from '../../../src/testing';
import { CONTRACT_OPTIONS, describeContract } from '../../contracts/event-store';
import { encoded, created } from '../../support/given';
import { describeOwnRedis, describeRedis } from '../../support/redis';
import { rejection } from '../../support/rejection';
import { openStore } from './open-store';

describeRedis('On one Redis', (redis) => {
  const open = () => openStore(redis.url, { keyPrefix: redis.prefix });
  describeContract(
    'RedisStreamCatalogue satisfies the contract of a stream catalogue',
    streamCatalogueContract(open, { ...CONTRACT_OPTIONS, durable: true, shared: true }),
  );

  describe('a foreign key', () => {
    /** The findings of the catalogue besides alice's stream, after `put`. */
    async function foundBeside(...keys: string[]) {
      const keyPrefix = `${redis.prefix}:x`;
      const { store, catalogue, close } = await openStore(redis.url, { keyPrefix });
      await store.append(streamName('alice'), BEGINNING, 'a commit', encoded(created(1, 'Fern')));
      for (const key of keys) await redis.admin.set(`${keyPrefix}${key}`, 'of another service');
      const found = [];
      for await (const one of catalogue.streams())
        found.push('foreign' in one ? one.foreign.replaceAll(keyPrefix, '') : one.stream);
      for (const key of keys) await redis.admin.del(`${keyPrefix}${key}`);
      await close();
      return found.filter((one) => one !== 'alice');
    }

    for (const key of [
      ':alice',
      ':{39}:alice:event',
      ':{39}:alice',
      ':{38}:alice:events',
      ':{alice}:events',
      ':{39}:%61lice:events',
      ':{39}:%E0%A4%A:events',
      ':{5}::events',
      ':{44}:a:events:old',
    ]) {
      it(`is reported as foreign: ${key}`, async () => {
        expect(await foundBeside(key)).to.deep.equal([`key ${key} is not a key of this service`]);
      });
    }

    it('is reported if it has the name of a stream and another type', async () => {
      expect(await foundBeside(':{20}:bob:events')).to.deep.equal(['key :{20}:bob:events is not a stream']);
    });

    it('is ignored if it has the prefix of another service', async () => {
      expect(await foundBeside(':eu:{20}:bob:events', 'y:{20}:bob:events', 'y')).to.deep.equal([]);
    });
  });

  it('an erased stream leaves no key behind', async () => {
    const { store, catalogue, close } = await openStore(redis.url, { keyPrefix: redis.prefix });
    await store.append(streamName('erased'), BEGINNING, 'a commit', encoded(created(1, 'Fern')));
    await catalogue.erase(streamName('erased'));
    expect(await redis.admin.keys(`${redis.prefix}:{*}:erased:*`)).to.deep.equal([]);
    await close();
  });
});

describeOwnRedis('On a Redis that was demoted to a replica, and may be stale', (startRedis) => {
  const calls: Record<string, (catalogue: StreamCatalogue) => Promise<unknown>> = {
    'lists no stream': (catalogue) => catalogue.streams()[Symbol.asyncIterator]().next(),
    'finds no stream': (catalogue) => catalogue.find(streamName('alice')),
  };
  for (const [does, call] of Object.entries(calls)) {
    it(`the catalogue ${does}`, async () => {
      const redis = await startRedis();
      const { store, catalogue, close } = await openStore(redis.url);
      await store.append(streamName('alice'), BEGINNING, 'a commit', encoded(created(1, 'Fern')));
      // Of an unreachable primary, so that it keeps its data.
      await redis.admin.replicaof('127.0.0.1', 1);
      const failure = await rejection(call(catalogue));
      await close();
      expect(failure).to.be.instanceOf(StoreUnavailable);
    });
  }
});
