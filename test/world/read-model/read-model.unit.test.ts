import { expect } from 'chai';
import { system } from '../../../src/adapters/system';
import { ReadModel, historyOf, projectInto } from '../../event-sourcing/one-projection';
import { randomFrom } from '../../support/random';
import { until } from '../../support/until';
import { BROKEN_ENTRIES } from '../../testing/broken-feeds';
import { type Change, openOn } from '../../testing/simulated-place';
import { Appenders } from './appenders';
import { differences } from './differences';
import { type Window, reportProblems } from './scenario';

const head = (version: number, commit: string) => ({ version, commit });

/** The writers of the scenario and a projection in this process. Resolves with what the read model has skipped, in all. */
async function skippedBy(change?: Change): Promise<number> {
  const place = await openOn(change)();
  const model = new ReadModel();
  const { clock, mintCommit } = system();
  const { store, feed, catalogue } = place;
  const projection = projectInto({ store, feed, catalogue }, model, { clock });
  await projection.caughtUp();
  const appenders = new Appenders(store, { random: randomFrom(1), mintCommit, mostEvents: 3, pauseMs: 1 });
  await until(() => appenders.events > 500);
  const { streams } = await appenders.stop();
  await projection.caughtUp();
  await projection.close();
  const found = await Promise.all(
    streams.map(async (stream) =>
      differences(model.streams.get(stream) ?? [], await historyOf(store, stream)),
    ),
  );
  await place.close?.();
  expect(found.filter(({ twice, lost }) => twice + lost > 0)).to.deep.equal([]);
  return found.reduce((sum, { skipped }) => sum + skipped, 0);
}

describe('The comparison of a read model with what is stored', () => {
  it('finds events that a feed skips whose numbers are assigned before the commit', async () => {
    expect(await skippedBy(BROKEN_ENTRIES['assigns sequence numbers before the commit'])).to.be.above(0);
  });

  it('finds nothing skipped in a store that keeps its promises', async () => {
    expect(await skippedBy()).to.equal(0);
  });

  it('counts events that were skipped, applied twice, or applied and not stored', () => {
    const applied = [head(1, 'a'), head(1, 'a'), head(3, 'lost')];
    const stored = [head(1, 'a'), head(2, 'b'), head(3, 'c')];
    expect(differences(applied, stored)).to.deep.equal({ skipped: 2, twice: 1, lost: 1 });
  });

  it('finds lost tails that were not reported, and resets without a failover', () => {
    const killed: Window = { fault: 'kill', from: 0, to: 9, loses: true };
    const frozen: Window = { fault: 'freeze', from: 10, to: 19, loses: false };
    const [early, late] = [
      { at: 5, bucket: 1 },
      { at: 15, bucket: 1 },
    ];
    expect(reportProblems([killed, frozen], [early], [early])).to.deep.equal([]);
    expect(reportProblems([killed, frozen], [], [early])).to.have.length(1);
    expect(reportProblems([killed, frozen], [{ at: 5, bucket: 2 }], [early])).to.have.length(1);
    expect(reportProblems([killed, frozen], [late], [])).to.have.length(1);
  });
});
