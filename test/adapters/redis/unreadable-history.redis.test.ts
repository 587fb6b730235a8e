import { expect } from 'chai';
import { plantsOf } from '../../support/given';
import { plantListCodec } from '../../../src/application';
import { PlantList } from '../../../src/domain';
import { headOf } from '../../../src/event-sourcing';
import { userNames } from '../../../src/service/log';
import { Stream } from '../../../src/testing/a-stream';
import type { Redis } from 'ioredis';
import { HttpClient, type HttpResponse } from '../../support/client';
import { type Instance, instancesPerTest } from '../../support/instance';
import { theBlock } from '../../docs/shell';
import { describeRedis } from '../../support/redis';
import { openStore } from './open-store';
import { plantEventOf } from '../../support/given';

/** A damage of a stream of three events, and a part of the message in the log. */
interface Damage {
  readonly what: string;
  readonly message: string;
  done(redis: Redis, key: string): Promise<unknown>;
  /** Whether an instance that has read the stream before detects it. */
  readonly inTheTail: boolean;
}

const ivy = ['type', 'PlantCreated', 'data', '{"id":3,"name":"Ivy"}', 'commit', 'another'];

const DAMAGES: readonly Damage[] = [
  {
    what: 'an event of a type that it does not know',
    message: 'event 4',
    inTheTail: true,
    done: (redis, key) => redis.xadd(key, '4-0', 'type', 'PlantMoved', ...ivy.slice(2)),
  },
  {
    what: 'a commit that is no UTF-8',
    message: 'entry 4-0',
    inTheTail: true,
    done: (redis, key) => redis.xadd(key, '4-0', ...ivy.slice(0, -1), Buffer.from('F\xc3', 'latin1')),
  },
  {
    what: 'a version missing at the end',
    message: 'entry 5-0',
    inTheTail: true,
    done: (redis, key) => redis.xadd(key, '5-0', ...ivy),
  },
  {
    what: 'a version missing in the middle',
    message: 'entry 3-0',
    inTheTail: false,
    done: (redis, key) => redis.xdel(key, '2-0'),
  },
  {
    what: 'no events beside the base snapshot, whose head an instance knows',
    message: 'the event that its base snapshot was taken after',
    inTheTail: true,
    done: async (redis, key) => {
      await archive(redis, key, 3);
      await redis.del(key);
    },
  },
  {
    what: 'another history than that of its base snapshot, and a longer one',
    message: 'the event that its base snapshot was taken after',
    inTheTail: true,
    done: async (redis, key) => {
      await archive(redis, key, 2);
      await redis.del(key);
      for (const id of ['1-0', '2-0', '3-0']) await redis.xadd(key, id, ...ivy);
    },
  },
  {
    what: 'a trimmed beginning without a base snapshot',
    message: 'the first events are not in the store',
    inTheTail: false,
    done: (redis, key) => redis.xtrim(key, 'MAXLEN', 1),
  },
];

/** Archives the first events of alice. */
async function archive({ options }: Redis, key: string, version: number): Promise<void> {
  const keyPrefix = key.replace(/:\{.*/, '');
  const opened = await openStore(`redis://${options.host}:${options.port}`, { keyPrefix });
  const alice = plantsOf('alice');
  const history = await new Stream(opened.store, alice).history();
  const archived = history.slice(0, version);
  const list = PlantList.from(archived.map(plantEventOf));
  const head = headOf(archived.at(-1)!);
  const base = { format: plantListCodec.format, head, archive: 'seal', chunks: plantListCodec.encode(list) };
  expect(await opened.archive.saveBase(alice, base, 0, async () => {})).to.equal(true);
  expect(await opened.archive.trim(alice, head)).to.equal(version - 1);
  await opened.close();
}

describeRedis('An unreadable history is refused, never skipped:', (redis) => {
  const startInstances = instancesPerTest();
  let key: string;
  /** `knowing` has read the three events before the damage, `ignorant` has not. */
  let knowing: Instance;
  let ignorant: Instance;

  beforeEach(async () => {
    key = `${redis.prefix}:{39}:plants/alice:events`;
    await redis.admin.del(key, key.replace('events', 'base'));
    [knowing, ignorant] = (await startInstances(2, {
      REDIS_URL: redis.url,
      REDIS_KEY_PREFIX: redis.prefix,
    })) as [Instance, Instance];
    const alice = new HttpClient(knowing.url);
    await alice.create(1, 'Fern');
    await alice.create(2, 'Moss');
    await alice.delete(1);
  });

  /** The answers to a list, a create and a delete of alice. */
  async function answers({ url }: Instance): Promise<HttpResponse[]> {
    const alice = new HttpClient(url);
    return [await alice.list(), await alice.create(9, 'Aloe'), await alice.delete(2)];
  }

  for (const { what, message, inTheTail, done } of DAMAGES) {
    it(what, async () => {
      await done(redis.admin, key);
      const damaged = await redis.admin.xrange(key, '-', '+');

      for (const instance of inTheTail ? [knowing, ignorant] : [ignorant]) {
        for (const { status, error } of await answers(instance)) {
          expect({ status, error }).to.deep.equal({ status: 503, error: 50300 });
        }
        const lines = instance.log.filter(({ msg }) => msg === 'a round failed') as unknown as Logged[];
        expect(lines).to.have.lengthOf(3);
        for (const { user, err } of lines) {
          expect([user, err.type]).to.deep.equal([userNames()('alice'), 'UnreadableHistory']);
          expect(err.message).to.include(message);
        }
      }
      expect(await redis.admin.xrange(key, '-', '+')).to.deep.equal(damaged);
    });
  }

  it('other users are served meanwhile', async () => {
    await redis.admin.xadd(key, '4-0', 'type', 'PlantMoved', ...ivy.slice(2));
    expect((await new HttpClient(knowing.url, 'alice').list()).status).to.equal(503);
    expect((await new HttpClient(knowing.url, 'bob').list()).status).to.equal(200);
  });

  it('it is served again after a correction', async () => {
    const backup = await redis.admin.dumpBuffer(key);
    await redis.admin.xadd(key, '4-0', 'type', 'PlantMoved', ...ivy.slice(2));
    for (const instance of [knowing, ignorant]) await answers(instance);

    await redis.admin.restore(key, 0, backup, 'REPLACE');

    for (const { url } of [knowing, ignorant]) {
      expect((await new HttpClient(url).list()).names).to.deep.equal(['Moss']);
    }
    expect((await new HttpClient(knowing.url).create(9, 'Aloe')).status).to.equal(200);
    expect((await new HttpClient(ignorant.url).list()).names).to.deep.equal(['Moss', 'Aloe']);
  });

  it('it is served again once the deleted events of an archived user are restored', async () => {
    await archive(redis.admin, key, 2);
    const backup = await redis.admin.dumpBuffer(key);
    await redis.admin.del(key);
    for (const instance of [knowing, ignorant]) await answers(instance);

    await redis.admin.restore(key, 0, backup);

    for (const { url } of [knowing, ignorant])
      expect((await new HttpClient(url).list()).names).to.deep.equal(['Moss']);
    expect((await new HttpClient(knowing.url).create(9, 'Aloe')).status).to.equal(200);
    expect((await new HttpClient(ignorant.url).list()).names).to.deep.equal(['Moss', 'Aloe']);
  });

  it('it is served again after an added entry and its version were removed', async () => {
    await redis.admin.xadd(key, '4-0', 'type', 'PlantMoved', ...ivy.slice(2));
    for (const instance of [knowing, ignorant]) await answers(instance);

    // As docs/operations.md shows.
    const mending = theBlock('redis mend').text.trim().replace('plant-store:{39}:plants/alice:events', key);
    const [command, ...args] = [...mending.matchAll(/"([^"]*)"|(\S+)/g)].map(
      ([, text, word]) => text ?? word!,
    );
    await redis.admin.call(command!, ...args);

    expect((await new HttpClient(knowing.url).create(9, 'Aloe')).status).to.equal(200);
    expect((await new HttpClient(ignorant.url).list()).names).to.deep.equal(['Moss', 'Aloe']);
    expect((await redis.admin.xrange(key, '-', '+')).map(([id]) => id)).to.deep.equal([
      '1-0',
      '2-0',
      '3-0',
      '4-0',
    ]);
    expect(await redis.admin.exists('plant-store:{39}:plants/alice:mended')).to.equal(0);
    expect(await redis.admin.xlen('aside:{39}:plants/alice:events')).to.equal(4);
    await redis.admin.unlink('aside:{39}:plants/alice:events');
  });
});

interface Logged {
  readonly user: string;
  readonly err: { readonly type: string; readonly message: string };
}
