import { expect } from 'chai';
import { MemoryEventStore } from '../../src/adapters/memory';
import { systemClock } from '../../src/adapters/system';
import { Aggregates, Capacity, streamOf } from '../../src/event-sourcing';

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
