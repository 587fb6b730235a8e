import { expect } from 'chai';
import { MemoryCheckpoints, MemoryEventStore, MemoryLeases } from '../../../src/adapters/memory';
import { systemClock } from '../../../src/adapters/system/clock';
import { plantCodec } from '../../../src/application';
import { type Projection, atLeastOnce, project } from '../../../src/event-sourcing';
import type { PlantEvent } from '../../../src/domain';
import { until } from '../../support/until';
import { runCli } from './cli-fixture';
import { aStore } from './histories';

describe('events projection', () => {
  let store: MemoryEventStore;
  let leases: MemoryLeases;
  let checkpoint: MemoryCheckpoints;
  let projection: Projection<PlantEvent>;
  /** Whether the event 2 of alice can be applied. */
  let applies: boolean;
  let applied: string[];
  beforeEach(async () => {
    store = await aStore();
    leases = new MemoryLeases();
    checkpoint = new MemoryCheckpoints();
    applies = true;
    applied = [];
  });
  afterEach(() => projection.close());

  async function start(): Promise<void> {
    projection = project<PlantEvent>(
      { store, feed: store.feed, catalogue: store },
      {
        codec: plantCodec,
        clock: systemClock,
        leases: { store: leases, projection: 'tags', instance: 'one', takeOverMs: 100 },
        ...atLeastOnce<PlantEvent>(checkpoint, (slices) => {
          for (const { stream, events } of slices)
            for (const { version } of events) {
              if (!applies && stream === 'plants/alice' && version === 2) throw new Error('no tag');
              applied.push(`${stream}@${version}`);
            }
        }),
      },
    );
  }

  /** What the command prints, once that is `expected`. */
  const shows = (expected: string) => until(async () => (await events('')).out === expected);

  const events = (rest: string) =>
    runCli({ store, leases, checkpoints: () => checkpoint }, `events projection${rest}`);

  it('shows the buckets of each projection, and how many commits it has not applied', async () => {
    await start();
    await shows('tags: 1 of 1 buckets, 1 instance, 0 commits behind\n');
    expect(await events(' tags --json')).to.deep.equal({
      code: 0,
      out: '{"projection":"tags","buckets":1,"instances":1,"behind":0,"stops":[]}\n',
      error: '',
    });
  });

  it('shows a bucket that has stopped with its event and error, and exits with 1', async () => {
    applies = false;
    await start();
    await until(() => projection.stops.length > 0);
    await until(async () => (await events('')).out.includes('has stopped'));
    const { code, out } = await events('');
    expect([code, out.split('\n')[1]]).to.deep.equal([
      1,
      '  bucket 0 has stopped at plants/alice@2: Error: no tag',
    ]);
  });

  it('exits with 1 if no instance works on a bucket, or if there is no such projection', async () => {
    await start();
    await shows('tags: 1 of 1 buckets, 1 instance, 0 commits behind\n');
    await projection.close();
    expect(await events('')).to.include({
      code: 1,
      out: 'tags: 0 of 1 buckets, 0 instances, 0 commits behind\n',
    });
    expect(await events(' other')).to.include({ code: 1, out: '' });
  });

  it('lets the instance try again with --retry', async () => {
    applies = false;
    await start();
    await until(() => projection.stops.length > 0);
    applies = true;
    await until(async () => (await events(' tags --retry')).code === 0);
    await shows('tags: 1 of 1 buckets, 1 instance, 0 commits behind\n');
    expect(applied).to.include('plants/alice@2');
  });

  it('leaves out one event with --skip, and refuses any other', async () => {
    applies = false;
    await start();
    await until(async () => (await events('')).code === 1);
    for (const other of ['plants/alice@1', 'plants/bob@2'])
      expect(await events(` tags --skip ${other}`)).to.include({ code: 1 });
    await until(async () => (await events(' tags --skip plants/alice@2')).code === 0);
    await shows('tags: 1 of 1 buckets, 1 instance, 0 commits behind\n');
    expect(applied).to.include('plants/alice@3').and.not.to.include('plants/alice@2');
  });

  it('removes the leases and the checkpoint of a projection with --remove, once no instance runs', async () => {
    await start();
    await shows('tags: 1 of 1 buckets, 1 instance, 0 commits behind\n');
    const refused = await events(' tags --remove');
    expect([refused.code, refused.error]).to.deep.equal([
      1,
      'plant-store: 1 instance of the projection run: end them first\n',
    ]);
    await projection.close();
    expect(checkpoint.keys('0/')).to.have.length.above(1);
    expect(await events(' tags --remove')).to.include({ code: 0 });
    expect([...checkpoint.keys('0/'), ...checkpoint.load(['0'])]).to.deep.equal([undefined]);
    expect(await events('')).to.include({ code: 0, out: '' });
    expect(await events(' tags --remove')).to.include({ code: 1 });
  });

  it('removes nothing of a projection of which an instance starts meanwhile but its checkpoint', async () => {
    await start();
    await shows('tags: 1 of 1 buckets, 1 instance, 0 commits behind\n');
    await projection.close();
    const { text } = await leases.load('tags');
    const save = checkpoint.save.bind(checkpoint);
    checkpoint.save = async (write) => {
      await save(write);
      await leases.save('tags', text, JSON.stringify({ ...JSON.parse(text!), another: 1 }));
    };
    expect(await events(' tags --remove')).to.include({ code: 1 });
    expect((await leases.load('tags')).text).to.be.a('string');
  });

  it('needs a projection to order something, and an event to skip', async () => {
    await start();
    for (const wrong of [
      ' --retry',
      ' --skip plants/alice@2',
      ' tags --skip plants/alice',
      ' --remove',
      ' tags --remove --retry',
    ])
      expect(await events(wrong)).to.include({ code: 2 });
  });
});
