import { expect } from 'chai';
import { pino } from 'pino';
import { MemoryEventStore } from '../../src/adapters/memory';
import type { LeaseStore } from '../../src/event-sourcing';
import { readProjections } from '../../src/service/projections';

describe('The metrics of projections', () => {
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(line) });
  const { feed } = new MemoryEventStore();
  let reachable: boolean;
  /** It has forgotten the projection since it named it. */
  const leases = {
    projections: () => (reachable ? Promise.resolve(['tags']) : Promise.reject(new Error('away'))),
    load: () => Promise.resolve({ text: undefined, now: 0 }),
  } as unknown as LeaseStore;

  it('need leases and a feed', () => {
    expect(readProjections({}, log)).to.equal(undefined);
    expect(readProjections({ leases }, log)).to.equal(undefined);
    expect(readProjections({ feed }, log)).to.equal(undefined);
  });

  it('leave out a projection that has no leases any more, and log each outage once', async () => {
    const read = readProjections({ leases, feed }, log)!;
    for (reachable of [false, false, true, false])
      expect(await read()).to.deep.equal({ buckets: feed.buckets, projections: [] });
    expect(lines).to.have.length(2);
  });
});
