import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { system } from '../../../src/adapters/system';
import { BEGINNING, type Head, atLeastOnce, project, streamOf } from '../../../src/event-sourcing';
import { checkpointStoreContract } from '../../../src/testing';
import { Stream } from '../../../src/testing/a-stream';
import { CONTRACT_OPTIONS, describeContract } from '../../contracts/event-store';
import { note, textCodec } from '../../event-sourcing/one-projection';
import { describeRedis } from '../../support/redis';
import { openStore } from './open-store';

describeRedis('A checkpoint in Redis', (redis) => {
  const open = () => openStore(redis.url, { keyPrefix: redis.prefix });

  describeContract(
    'RedisCheckpoints satisfy the contract of a checkpoint store',
    checkpointStoreContract(open, { ...CONTRACT_OPTIONS, durable: true, shared: true, erases: true }),
  );

  /** A user of this test alone, and projection. */
  let user: string;
  let name: string;
  let opened: Awaited<ReturnType<typeof open>>;
  beforeEach(async () => {
    user = randomUUID();
    name = `notes-${user}`;
    opened = await open();
  });
  afterEach(() => opened.close());

  function start(applied: string[]) {
    return project<string>(opened, {
      ...system(),
      codec: textCodec,
      follows: (stream) => stream.includes(user),
      ...atLeastOnce<string>(opened.checkpoints(name), (slices) => {
        for (const { restarts, events } of slices)
          applied.push(...(restarts ? ['begin'] : []), ...events.map(({ event }) => event));
      }),
    });
  }

  async function append(text: string, head: Head = BEGINNING): Promise<Head> {
    return new Stream(opened.store, streamOf('notes', user)).add(head, note(text));
  }

  /** The keys that have the name of the user in them or in their values. */
  async function keysWithUser(): Promise<string[]> {
    const found: string[] = [];
    for (const key of await redis.admin.keys(`${redis.prefix}:*`)) {
      const isHash = (await redis.admin.type(key)) === 'hash';
      const content = isHash ? await redis.admin.hgetall(key) : await redis.admin.xrange(key, '-', '+');
      if (`${key.replace(name, '')} ${JSON.stringify(content).replaceAll(name, '')}`.includes(user))
        found.push(key);
    }
    return found;
  }

  it('lets a new process continue, and has no name of a user who was erased', async () => {
    const stream = streamOf('notes', user);
    const applied: string[] = [];
    const first = start(applied);
    const head = await append('one');
    expect(await first.waitFor(stream, head)).to.equal(true);
    await first.close();
    await opened.close();

    opened = await open();
    const second = start(applied);
    expect(await second.waitFor(stream, await append('two', head))).to.equal(true);
    expect(applied).to.deep.equal(['begin', 'one', 'two']);
    expect(await keysWithUser()).to.have.length(3);

    await opened.catalogue.erase(stream);
    expect(await keysWithUser()).to.deep.equal([]);
    expect(await second.waitFor(stream, await append('new'))).to.equal(true);
    expect(applied.slice(3)).to.deep.equal(['begin', 'new']);
    await second.close();
  });

  it('is no stream of the catalogue, and no foreign key', async () => {
    const projection = start([]);
    await projection.waitFor(streamOf('notes', user), await append('one'));
    await projection.close();
    const found = [];
    for await (const one of opened.catalogue.streams()) found.push(one);
    expect(found.filter((one) => 'foreign' in one)).to.deep.equal([]);
  });

  it('needs a name of lower-case letters, digits and "-"', () => {
    for (const wrong of ['', 'Tags', 'a:b', 'a{1}', 'a'.repeat(65)])
      expect(() => opened.checkpoints(wrong)).to.throw(RangeError);
  });
});
