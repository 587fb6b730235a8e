import { expect } from 'chai';
import fc from 'fast-check';
import {
  ImpossibleHistory,
  type LivingPlant,
  type PlantEvent,
  type PlantId,
  PlantList,
  plantCreated,
} from '../../src/domain';
import { created, deleted, ferns, given, listed, plant, plantId } from '../support/given';
import { RUNS } from './arbitraries';
import { NaiveList, type NaivePage } from './naive-list';

describe('The list', () => {
  it('is empty at first', () => given().thenState(listed()));

  it('shows the plants in order of creation', () => {
    given(created(9, 'Fern'), created(-1, 'Moss'), created(5, 'Aloe')).thenState(
      listed(plant('Fern'), plant('Moss'), plant('Aloe')),
    );
  });

  it('does not show a deleted plant', () => {
    given(created(1, 'Fern'), created(2, 'Moss'), deleted(1)).thenState(listed(plant('Moss')));
  });

  it('shows a plant that was created again last, with its new members', () => {
    given(created(1, 'Fern', 'indoor'), created(2, 'Moss'), deleted(1), created(1, 'Aloe')).thenState(
      listed(plant('Moss'), plant('Aloe')),
    );
  });

  it('distinguishes an empty tag from an absent one', () => {
    given(created(1, 'Fern', ''), created(2, 'Moss')).thenState(
      listed({ name: 'Fern', tag: '' }, { name: 'Moss' }),
    );
  });

  it('has the living plants, and the number of its events', () => {
    const list = PlantList.from([created(1, 'Fern'), created(2, 'Moss'), deleted(1)]);
    expect([1, 2, 3].map((id) => list.has(plantId(id)))).to.deep.equal([false, true, false]);
    expect([list.size, list.version]).to.deep.equal([1, 3]);
  });

  it('distinguishes ids beyond 2^53', () => {
    const [one, other] = [plantId('9007199254740993'), plantId('9007199254740992')];
    given(created(one, 'Fern'), created(other, 'Moss'), deleted(one)).thenState(listed(plant('Moss')));
  });

  it('returns plants without id and event, name first', () => {
    const event = { ...created(123, 'Fern', 'indoor'), ...{ owner: 'eve' } };
    const { plants } = PlantList.from([event, created(456, 'Moss')]).page();
    expect(JSON.stringify(plants)).to.equal('[{"name":"Fern","tag":"indoor"},{"name":"Moss"}]');
  });
});

describe('An impossible history', () => {
  const taken: [string, PlantEvent[], PlantEvent, message: string][] = [
    [
      'creates an id that is taken',
      [created(1, 'Fern')],
      created(1, 'Moss'),
      'event 2 of the history creates an id that is taken',
    ],
    [
      'deletes an id that nothing ever had',
      [created(1, 'Fern')],
      deleted(2),
      'event 2 of the history deletes an id that is free',
    ],
    [
      'deletes a plant twice',
      [created(1, 'Fern'), created(2, 'Moss'), deleted(1)],
      deleted(1),
      'event 4 of the history deletes an id that is free',
    ],
    [
      'contains an unknown event',
      [created(1, 'Fern')],
      { ...deleted(1), type: 'PlantMoved' as 'PlantDeleted' },
      'event 2 of the history is of an unknown type',
    ],
  ];
  for (const [what, history, next, message] of taken) {
    it(`is rejected without a change, and the error says why: ${what}`, () => {
      const list = PlantList.from(history);
      expect(() => list.evolve(next)).to.throw(ImpossibleHistory, message);
      expectSame(list, PlantList.from(history));
    });
  }

  it('is detected at any event, and the error names the event', () => {
    expect(() => PlantList.from([created(1, 'Fern'), deleted(1), deleted(1)]))
      .to.throw(ImpossibleHistory, 'event 3')
      .with.property('name', 'ImpossibleHistory');
  });
});

describe('A list that skips events', () => {
  it('continues at the version after them, and never goes back', () => {
    const list = PlantList.from([created(1, 'Fern')]);
    list.skipTo(5);
    list.evolve(created(2, 'Moss'));
    expect([list.version, list.page(1).next]).to.deep.equal([6, 1]);
    for (const version of [5, -1, NaN])
      expect(() => list.skipTo(version)).to.throw(
        ImpossibleHistory,
        `event 7 of the history is followed by event ${version + 1}`,
      );
    expect(list.version).to.equal(6);
  });
});

describe('A page', () => {
  const list = PlantList.from([
    created(1, 'A'),
    created(2, 'B'),
    deleted(1),
    created(3, 'C'),
    created(4, 'D'),
  ]);
  const names = (limit?: number, after?: number) => list.page(limit, after).plants.map(({ name }) => name);

  it('has up to `limit` plants, from the beginning by default', () => {
    expect([names(), names(2), names(Infinity), names(0)]).to.deep.equal([
      ['B', 'C', 'D'],
      ['B', 'C'],
      ['B', 'C', 'D'],
      [],
    ]);
  });

  it('continues after the previous page', () => {
    const { next } = list.page(1);
    expect(names(1, next)).to.deep.equal(['C']);
  });

  it('has no `next` at the end of the list, even if it is full', () => {
    expect([list.page(3).next, list.page(4).next, list.page(5, 99).next]).to.deep.equal([
      undefined,
      undefined,
      undefined,
    ]);
    expect(list.page(2).next).to.be.a('number');
  });
});

describe('The ranges of a page', () => {
  const list = PlantList.from(ferns(128));
  const rangesOf = (limit: number, after: number) => {
    const { ranges, next } = list.page(limit, after);
    return { ranges: ranges.map(({ from, to }) => [from, to]), next };
  };

  it('have at least one plant each, also where a segment ends', () => {
    expect(rangesOf(64, 0)).to.deep.equal({ ranges: [[0, 64]], next: 64 });
    expect(rangesOf(1, 64)).to.deep.equal({ ranges: [[0, 1]], next: 65 });
    expect(rangesOf(2, 63)).to.deep.equal({
      ranges: [
        [63, 64],
        [0, 1],
      ],
      next: 65,
    });
  });

  it('are none in an empty page, which continues where it began', () => {
    expect(rangesOf(0, 3)).to.deep.equal({ ranges: [], next: 3 });
    expect(rangesOf(1, 128)).to.deep.equal({ ranges: [], next: undefined });
  });
});

/** A step on a list: events, or a page is read, which must change nothing. */
type Happening =
  | { readonly kind: PlantEvent['type']; readonly first: number; readonly count: number }
  | { readonly kind: 'look'; readonly limit: number; readonly after: number };

/** By type, so that a new type of event cannot be forgotten. */
const EVENTS: Readonly<Record<PlantEvent['type'], (id: PlantId | number, name: string) => PlantEvent>> = {
  PlantCreated: created,
  PlantDeleted: deleted,
};

const anyType = fc.constantFrom(...(Object.keys(EVENTS) as PlantEvent['type'][]));
const one = fc.constant(1);

const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: anyType, first: fc.nat(60), count: one }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('PlantCreated'), first: fc.nat(60), count: one }) },
  // The oldest ones, so that long gaps arise at the start of the list.
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('PlantDeleted'), first: fc.constant(0), count: one }),
  },
  // So many that they fill several segments, and that whole ones become empty.
  { weight: 1, arbitrary: fc.record({ kind: anyType, first: fc.nat(400), count: fc.nat(100) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('look'), limit: fc.nat(150), after: fc.nat(600) }) },
);

const happenings = (maxLength: number) => fc.array(happening, { maxLength, size: 'max' });

describe('A list after any steps', () => {
  it('returns the same pages as a plain array, from any position', () => {
    fc.assert(
      fc.property(happenings(300), (past) => {
        const [list, naive] = [new PlantList(), new NaiveList()];
        for (const what of past) {
          happen(what, list, naive);
          if (what.kind === 'look')
            expectPage(list.page(what.limit, what.after), naive.page(what.limit, what.after));
        }
        expectPage(list.page(), naive.page(Infinity, 0));
      }),
      { numRuns: RUNS },
    );
  });

  it('takes the memory of the plants that live', () => {
    fc.assert(
      fc.property(happenings(200), (past) => {
        const [list, naive] = afterSteps(past);
        expect(list.bytes).to.equal(naive.bytes);
      }),
      { numRuns: RUNS },
    );
  });

  it('does not change a page that was returned before', () => {
    fc.assert(
      fc.property(happenings(200), happenings(100), fc.nat(40), fc.nat(200), (before, after, limit, from) => {
        const [list, naive] = afterSteps(before);
        const page = list.page(limit, from);
        const asItWas = page.plants;
        for (const what of after) happen(what, list, naive);
        expect(page.plants).to.deep.equal(asItWas);
      }),
      { numRuns: RUNS },
    );
  });

  it('returns most of a long list in identical segments', () => {
    const past = Array.from({ length: 1000 }, (_, id) => created(id, 'Fern'));
    const list = PlantList.from(past);
    const before = new Set(list.page().ranges.map(({ segment }) => segment));
    for (const event of [deleted(0), deleted(500), created(1000, 'Moss')]) list.evolve(event);
    const pieces = list.page().ranges.map(({ segment }) => segment);
    expect(pieces.filter((piece) => !before.has(piece))).to.have.length(3);
    expect(pieces).to.have.length.above(12);
  });

  it('merges a segment with the one before it, or after it, once both fit into one', () => {
    // Two segments of 64 plants each.
    const ids = Array.from({ length: 128 }, (_, id) => id);
    const [ofFirst, ofSecond] = [ids.slice(0, 40), ids.slice(64, 88)];
    for (const gone of [
      [...ofFirst, ...ofSecond],
      [...ofSecond, ...ofFirst],
    ]) {
      const list = PlantList.from(ids.map((id) => created(id, 'Fern')));
      for (const id of gone) {
        expect(list.page().ranges).to.have.length(2);
        list.evolve(deleted(id));
      }
      expect(list.page().ranges).to.have.length(1);
    }
  });

  it('has merged all neighbouring segments that fit into one', () => {
    fc.assert(
      fc.property(happenings(200), (past) => {
        const [list] = afterSteps(past);
        const sizes = list.page().ranges.map(({ segment }) => segment.plants.length);
        for (const [index, size] of sizes.slice(1).entries()) expect(sizes[index]! + size).to.be.above(64);
      }),
      { numRuns: RUNS },
    );
  });

  it('equals a list that is rebuilt from its events', () => {
    fc.assert(
      fc.property(happenings(150), (past) => {
        const [list, naive] = afterSteps(past);
        expectSame(list, PlantList.from(naive.history));
      }),
      { numRuns: RUNS },
    );
  });

  it('equals a list of only the creations of its living plants, each at its position', () => {
    fc.assert(
      fc.property(happenings(150), happenings(30), (past, future) => {
        const [list, naive] = afterSteps(past);
        const [living, version, history] = [list.living(), list.version, [...naive.history]];
        for (const what of future) happen(what, list, naive);

        const restored = restore(living, version);
        expectSame(restored, PlantList.from(history));
        for (const event of naive.history.slice(version)) restored.evolve(event);
        expectSame(restored, list);
      }),
      { numRuns: RUNS },
    );
  });

  it('has no id twice, and rejects impossible events', () => {
    fc.assert(
      fc.property(happenings(100), fc.nat(60), (past, id) => {
        const [list, naive] = afterSteps(past);
        const alive = naive.ids.includes(plantId(id));

        expect(list.has(plantId(id))).to.equal(alive);
        for (const event of Object.values(EVENTS).map((eventOf) => eventOf(id, 'again')))
          if (!naive.allows(event)) expect(() => list.evolve(event)).to.throw(ImpossibleHistory);
        expectSame(list, PlantList.from(naive.history));
      }),
      { numRuns: RUNS },
    );
  });

  it('a walk meets every plant that lives through it exactly once, in order of creation', () => {
    const walk = fc.record({
      before: happenings(200),
      limit: fc.integer({ min: 1, max: 4 }),
      between: fc.array(happenings(40), { minLength: 1, maxLength: 8 }),
    });
    fc.assert(
      fc.property(walk, ({ before, limit, between }) => {
        const [list, naive] = afterSteps(before);
        let survivors = naive.names;
        const met: string[] = [];

        for (let page = list.page(limit), turn = 0; ; turn++) {
          met.push(...page.plants.map(({ name }) => name));
          if (page.next === undefined) break;
          for (const what of between[turn] ?? []) happen(what, list, naive);
          const alive = new Set(naive.names);
          survivors = survivors.filter((name) => alive.has(name));
          const { next } = page;
          page = list.page(limit, next);
          if (page.next !== undefined) expect(page.next).to.be.above(next);
        }

        expect(met.filter((name) => survivors.includes(name))).to.deep.equal(survivors);
        expect(new Set(met).size).to.equal(met.length);
      }),
      { numRuns: RUNS },
    );
  });
});

function afterSteps(steps: readonly Happening[]): [PlantList, NaiveList] {
  const [list, naive] = [new PlantList(), new NaiveList()];
  for (const what of steps) happen(what, list, naive);
  return [list, naive];
}

function happen(what: Happening, list: PlantList, naive: NaiveList): void {
  if (what.kind === 'look') {
    list.page(what.limit, what.after);
    return;
  }
  for (let n = 0; n < what.count; n++) {
    // A creation on from an id, any other event of a living plant. Names are unique.
    const id = what.kind === 'PlantCreated' ? what.first + n : naive.idAt(what.first);
    if (id === undefined) return;
    const event = EVENTS[what.kind](id, `plant ${naive.history.length + 1}`);
    if (naive.evolve(event)) list.evolve(event);
  }
}

function restore(living: Iterable<LivingPlant>, version: number): PlantList {
  const list = new PlantList();
  for (const { position, id, plant } of living) {
    list.skipTo(position - 1);
    list.evolve(plantCreated(id, plant));
  }
  list.skipTo(version);
  return list;
}

/** Asserts that the two lists are observably equal. */
function expectSame(list: PlantList, other: PlantList): void {
  expect([list.version, list.size]).to.deep.equal([other.version, other.size]);
  for (let after = 0; after <= other.version; after++) {
    expectPage(list.page(2, after), other.page(2, after));
  }
  expectPage(list.page(), other.page());
}

/** They show the same plants and end at the same place, however they are cut up. */
function expectPage(page: NaivePage, other: NaivePage): void {
  expect([page.plants, page.next]).to.deep.equal([other.plants, other.next]);
}
