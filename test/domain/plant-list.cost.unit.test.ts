/**
 * What long lists cost: processor time, compared with the same work on a list
 * that nothing was ever deleted from. The bounds are so wide that only another
 * order of growth gets past them.
 */
import { expect } from 'chai';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type PlantCreated, PlantList } from '../../src/domain';
import { cpuMilliseconds } from '../support/cpu-time';
import { created, deleted } from '../support/given';

const HALF = 100_000;
const SLACK_MS = 150;

describe('A list of which the first half was deleted', () => {
  let creations: PlantCreated[];
  let fresh: { readonly building: number; readonly looking: number; readonly walking: number };

  before(() => {
    creations = Array.from({ length: 2 * HALF }, (_, id) => created(id, 'Fern'));
    const list = PlantList.from(creations.slice(HALF));
    fresh = {
      building: cpuMilliseconds(() => PlantList.from(creations)),
      looking: cpuMilliseconds(() => look(list)),
      walking: cpuMilliseconds(() => walk(list)),
    };
  });

  const orders: Record<string, (step: number) => number> = {
    'oldest first': (step) => step,
    'newest first': (step) => HALF - 1 - step,
    // 7919 is a prime that does not divide HALF: each plant has its turn once.
    'here and there': (step) => (step * 7919) % HALF,
  };
  for (const [order, turn] of Object.entries(orders)) {
    it(`${order}, answers as fast as one that never held it`, () => {
      const list = PlantList.from(creations);
      const deleting = cpuMilliseconds(() => {
        for (let step = 0; step < HALF; step++) list.evolve(deleted(creations[turn(step)]!.id));
      });

      expect(list.size).to.equal(HALF);
      expect(deleting, 'deleting').to.be.below(10 * fresh.building + SLACK_MS);
      expect(
        cpuMilliseconds(() => look(list)),
        'looking',
      ).to.be.below(10 * fresh.looking + SLACK_MS);
      expect(
        cpuMilliseconds(() => walk(list)),
        'walking',
      ).to.be.below(10 * fresh.walking + SLACK_MS);
    });
  }
});

describe('A list of few plants', () => {
  it('stays small, however many came and went', () => {
    const collectGarbage = garbageCollector();
    const list = PlantList.from([created(1, 'Fern'), created(2, 'Moss')]);
    const comeAndGo = [deleted(2), created(2, 'Moss')];

    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    for (let times = 0; times < 250_000; times++) for (const event of comeAndGo) list.evolve(event);
    collectGarbage();

    // One slot kept for each that went would be 4 MB and more.
    expect(process.memoryUsage().heapUsed - before).to.be.below(2_000_000);
    expect([list.size, list.version]).to.deep.equal([2, 500_002]);
  });
});

/** The first page again and again: what a stretch of nothing at the start would slow down. */
function look(list: PlantList): void {
  for (let times = 0; times < 5000; times++) expectLength(list.page(1).plants, 1);
}

/** All of the list, page by page. */
function walk(list: PlantList): void {
  let met = 0;
  for (let page = list.page(100); ; page = list.page(100, page.next)) {
    met += page.plants.length;
    if (page.next === undefined) break;
  }
  expect(met).to.equal(HALF);
}

// Not chai's: it would cost more than what it is measured with.
function expectLength(plants: readonly unknown[], length: number): void {
  if (plants.length !== length) throw new Error(`a page of ${plants.length} plants instead of ${length}`);
}

function garbageCollector(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}
