import { expect } from 'chai';
import fc from 'fast-check';
import { PlantList } from '../../src/domain';
import { BROKEN } from './broken-stores';
import { brokenPromises, unpromisedAnswers } from './consistency';
import { live } from './life';
import { schedules, schedulesWithFailovers } from './schedule';

const NUM_RUNS = process.env['LONG'] ? 20_000 : 500;

describe('Several instances over one store that may be slow, refuse, lose replies or never answer', () => {
  it('keep every promise to their clients', async () => {
    await fc.assert(
      fc.asyncProperty(schedules, async (schedule) => {
        expect(brokenPromises(await live(schedule))).to.deep.equal([]);
      }),
      { numRuns: NUM_RUNS },
    );
  }).timeout(600_000);

  it('answer in time, record nothing twice and agree in the end, even if the store loses acknowledged events', async () => {
    await fc.assert(
      fc.asyncProperty(schedulesWithFailovers, async (schedule) => {
        const life = await live(schedule);
        expect(unpromisedAnswers(life.attempts)).to.deep.equal([]);
        for (const { user, outcome } of life.lists) {
          const history = life.histories.get(user)!.map(({ event }) => event);
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

describe('A broken promise is found out where the store', () => {
  for (const [how, connect] of Object.entries(BROKEN)) {
    it(how, async () => {
      // Collected, and not told from the check's failure: that would also count a mistake of the test itself.
      const found: string[] = [];
      const keepsAll = fc.asyncProperty(schedules, async (schedule) => {
        found.push(...brokenPromises(await live(schedule, connect)));
        return found.length === 0;
      });

      await fc.check(keepsAll, { numRuns: 500, endOnFailure: true });

      expect(found).not.to.be.empty;
    });
  }
});
