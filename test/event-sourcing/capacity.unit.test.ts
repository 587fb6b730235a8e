import { expect } from 'chai';
import { MemoryEventStore } from '../../src/adapters/memory';
import { systemClock } from '../../src/adapters/system';
import { setImmediate as turn } from 'node:timers/promises';
import { Aggregates, Capacity, type ReadResult, streamOf } from '../../src/event-sourcing';
import { gc } from '../support/heap';

const decider = {
  initialState: () => 0,
  decide: () => ({ events: [1] }),
  evolve: (sum: number, event: number) => sum + event,
};
const codec = { encode: () => ({ type: 'one', data: '' }), decode: () => 1 };
const footprint = { items: () => 1, bytes: () => 6000, bytesAddedBy: () => 0 };

describe('Two kinds of aggregates with one capacity', () => {
  it('share its memory, and are one sum in its usage', async () => {
    const capacity = new Capacity({ clock: systemClock, cacheMaxBytes: 20_000 });
    const open = () =>
      new Aggregates(decider, {
        store: new MemoryEventStore(),
        clock: systemClock,
        mintCommit: () => 'a commit',
        codec,
        footprint,
        capacity,
      });
    const [jars, boxes] = [open(), open()];
    await jars.execute(streamOf('jars', 'alice'), undefined);
    await boxes.execute(streamOf('boxes', 'alice'), undefined);
    expect(capacity.usage).to.include({ aggregates: 2, items: 2, evictions: 0 });
    expect(jars.usage).to.deep.equal(boxes.usage);
    await boxes.execute(streamOf('boxes', 'bob'), undefined);
    expect(capacity.usage).to.include({ aggregates: 2, evictions: 1, misses: 3 });
  });
});

describe('An idle aggregate', () => {
  it('does not keep the result of its last call to the store', async () => {
    const store = new MemoryEventStore();
    const results: WeakRef<ReadResult>[] = [];
    const read: MemoryEventStore['read'] = async (stream, after) => {
      const result = await store.read(stream, after);
      results.push(new WeakRef(result));
      return result;
    };
    const jars = new Aggregates(decider, {
      store: Object.assign(Object.create(store), { read }),
      clock: systemClock,
      mintCommit: () => 'a commit',
      codec,
    });
    for (const view of [() => 'loaded', () => 'read']) await jars.query(streamOf('jars', 'alice'), view);
    await turn();
    gc();
    expect(results.map((result) => result.deref())).to.deep.equal([undefined, undefined]);
    expect(jars.usage.aggregates).to.equal(1);
  });
});
