import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { system } from '../../../src/adapters/system';
import {
  BEGINNING,
  type Head,
  type StreamName,
  atLeastOnce,
  project,
  streamOf,
} from '../../../src/event-sourcing';
import { checkpointStoreContract, leaseStoreContract } from '../../../src/testing';
import { Stream } from '../../../src/testing/a-stream';
import { CONTRACT_OPTIONS, describeContract } from '../../contracts/event-store';
import { ReadModel, note, textCodec } from '../../event-sourcing/one-projection';
import { describeRedis } from '../../support/redis';
import { until } from '../../support/until';
import { openStore } from './open-store';

describeRedis('A checkpoint in Redis', (redis) => {
  const open = () => openStore(redis.url, { keyPrefix: redis.prefix });

  describeContract(
    'RedisCheckpoints satisfy the contract of a checkpoint store',
    checkpointStoreContract(open, { ...CONTRACT_OPTIONS, durable: true, shared: true, erases: true }),
  );

  describeContract(
    'RedisLeases satisfy the contract of a lease store',
    leaseStoreContract(open, { ...CONTRACT_OPTIONS, durable: true, shared: true }),
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

  it('is written by instances with leases, which take over from one that has lost its connection', async () => {
    const others = [await open(), await open()] as const;
    const model = new ReadModel();
    const projections = others.map((each, index) =>
      project<string, string>(each, {
        ...system(),
        codec: textCodec,
        checkpoint: model,
        apply: (batch) => model.transaction(batch),
        leases: { store: each.leases, projection: name, instance: String(index), takeOverMs: 400 },
      }),
    );
    const streams = Array.from({ length: 64 }, (_, index) => streamOf('notes', `${user} ${index}`));
    const heads = new Map<StreamName, Head>();
    for (const text of ['before', 'after']) {
      for (const stream of streams) {
        const head = heads.get(stream) ?? BEGINNING;
        heads.set(stream, await new Stream(opened.store, stream).add(head, note(text)));
      }
      for (const [stream, head] of heads) expect(await projections[1]!.waitFor(stream, head)).to.equal(true);
      await others[0].close();
    }
    for (const stream of streams) expect(model.of(stream)).to.deep.equal(['before', 'after']);
    expect(model.violations).to.deep.equal([]);
    await Promise.all(projections.map((projection) => projection.close()));
    await others[1].close();
  });

  it('lets an erasure remove the name of the user from a stop, too, and the projection continues', async () => {
    const stream = streamOf('notes', user);
    const projection = project<string>(opened, {
      ...system(),
      codec: textCodec,
      follows: (each) => each === stream,
      leases: { store: opened.leases, projection: name, instance: 'one', takeOverMs: 400 },
      ...atLeastOnce<string>(opened.checkpoints(name), (slices) => {
        if (slices.some(({ events }) => events.length > 0)) throw new Error(`not ${user}`);
      }),
    });
    await append('one');
    const leases = `${redis.prefix}:{0}:feed:projections`;
    await until(async () => (await keysWithUser()).includes(leases));
    await opened.catalogue.erase(stream);
    // A renewal must not bring it back, not even for a moment.
    for (let looks = 0; looks < 20 || projection.stops.length > 0; looks++) {
      expect(await keysWithUser()).to.deep.equal([]);
      await pause(20);
    }
    await projection.close();
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
