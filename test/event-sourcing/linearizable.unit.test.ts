import { expect } from 'chai';
import fc from 'fast-check';
import { PlantList } from '../../src/domain';
import { BROKEN_STORES } from './broken-stores';
import { findViolations, invalidAnswers } from './consistency';
import { simulate } from './simulation';
import { schedules, schedulesWithFailovers } from './schedule';

const NUM_RUNS = process.env['LONG'] ? 20_000 : 500;

describe('Several instances over a store that is slow, refuses calls, loses replies or does not respond', () => {
  it('are linearizable', async () => {
    await fc.assert(
      fc.asyncProperty(schedules, async (schedule) => {
        expect(findViolations(await simulate(schedule))).to.deep.equal([]);
      }),
      { numRuns: NUM_RUNS },
    );
  }).timeout(600_000);

  it('restore snapshots, save them, and meet those that cannot be used', async () => {
    const met = new Set<string>();
    for (const schedule of fc.sample(schedulesWithFailovers, { numRuns: 100, seed: 1 }))
      for (const outcome of (await simulate(schedule)).snapshots) met.add(outcome);
    expect([...met]).to.have.members(['restored', 'saved', 'failed', 'ignored']);
  });

  it('answer in time, record nothing twice and agree at the end, even if the store loses acknowledged events', async () => {
    await fc.assert(
      fc.asyncProperty(schedulesWithFailovers, async (schedule) => {
        const result = await simulate(schedule);
        expect(invalidAnswers(result.requests)).to.deep.equal([]);
        for (const { user, outcome } of result.lists) {
          const history = result.histories.get(user)!.map(({ event }) => event);
          const names = history.flatMap((event) => (event.type === 'PlantCreated' ? [event.name] : []));
          expect(new Set(names)).to.have.property('size', names.length);
          expect(outcome).to.deep.equal(
            PlantList.from(history)
              .page()
              .plants.map(({ name }) => name),
          );
        }
      }),
      { numRuns: NUM_RUNS / 2 },
    );
  }).timeout(600_000);
});

describe('The check of linearizability detects a store that', () => {
  for (const [how, connect] of Object.entries(BROKEN_STORES)) {
    it(how, async () => {
      // Collects the violations instead of relying on the failure, which an error in the test itself would cause, too.
      const found: string[] = [];
      const hasNoViolation = fc.asyncProperty(schedules, async (schedule) => {
        found.push(...findViolations(await simulate(schedule, connect)));
        return found.length === 0;
      });

      await fc.check(hasNoViolation, { numRuns: 500, endOnFailure: true });

      expect(found).not.to.be.empty;
    });
  }
});
