import { expect } from 'chai';
import fc from 'fast-check';
import { ImpossibleHistory, type PlantEvent, PlantList } from '../../src/domain';
import { created, deleted, given, plant, plantId } from '../support/given';
import { RUNS } from './arbitraries';
import { NaiveList, type NaivePage } from './naive-list';

describe('The list', () => {
  it('is empty at first', () => given().thenListed());

  it('shows the plants in order of creation', () => {
    given(created(9, 'Fern'), created(-1, 'Moss'), created(5, 'Aloe')).thenListed(
      plant('Fern'),
      plant('Moss'),
      plant('Aloe'),
    );
  });

  it('shows a deleted plant no more', () => {
    given(created(1, 'Fern'), created(2, 'Moss'), deleted(1)).thenListed(plant('Moss'));
  });

  it('shows a plant that was created anew last, as it is now', () => {
    given(created(1, 'Fern', 'indoor'), created(2, 'Moss'), deleted(1), created(1, 'Aloe')).thenListed(
      plant('Moss'),
      plant('Aloe'),
    );
  });

  it('tells an empty tag from none', () => {
    given(created(1, 'Fern', ''), created(2, 'Moss')).thenListed({ name: 'Fern', tag: '' }, { name: 'Moss' });
  });

  it('knows who lives, and how many events it was projected from', () => {
    const list = PlantList.from([created(1, 'Fern'), created(2, 'Moss'), deleted(1)]);
    expect([1, 2, 3].map((id) => list.has(plantId(id)))).to.deep.equal([false, true, false]);
    expect([list.size, list.version]).to.deep.equal([1, 3]);
  });

  it('keeps ids apart that differ only beyond 2^53', () => {
    const [one, other] = [plantId('9007199254740993'), plantId('9007199254740992')];
    given(created(one, 'Fern'), created(other, 'Moss'), deleted(one)).thenListed(plant('Moss'));
  });

  it('lets neither id nor event out with a plant, name first', () => {
    const event = { ...created(123, 'Fern', 'indoor'), ...{ owner: 'eve' } };
    const { plants } = PlantList.from([event, created(456, 'Moss')]).page();
    expect(JSON.stringify(plants)).to.equal('[{"name":"Fern","tag":"indoor"},{"name":"Moss"}]');
  });
});

describe('An impossible history', () => {
  const taken: [string, PlantEvent[], PlantEvent][] = [
    ['creates an id that is taken', [created(1, 'Fern')], created(1, 'Moss')],
    ['deletes an id that nothing ever had', [created(1, 'Fern')], deleted(2)],
    ['deletes a plant twice', [created(1, 'Fern'), created(2, 'Moss'), deleted(1)], deleted(1)],
    ['holds what is no event', [created(1, 'Fern')], { ...deleted(1), type: 'PlantMoved' as 'PlantDeleted' }],
  ];
  for (const [what, history, next] of taken) {
    it(`${what}: refused, and nothing is changed`, () => {
      const list = PlantList.from(history);
      expect(() => list.evolve(next)).to.throw(ImpossibleHistory);
      expectSame(list, PlantList.from(history));
    });
  }

  it('is found out wherever it goes wrong, and names the event', () => {
    expect(() => PlantList.from([created(1, 'Fern'), deleted(1), deleted(1)])).to.throw(
      ImpossibleHistory,
      'event 3',
    );
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

  it('holds up to `limit` plants, from the beginning unless told otherwise', () => {
    expect([names(), names(2), names(Infinity), names(0)]).to.deep.equal([
      ['B', 'C', 'D'],
      ['B', 'C'],
      ['B', 'C', 'D'],
      [],
    ]);
  });

  it('goes on where the one before stopped', () => {
    const { next } = list.page(1);
    expect(names(1, next)).to.deep.equal(['C']);
  });

  it('says that the list ends with it, also where it is full', () => {
    expect([list.page(3).next, list.page(4).next, list.page(5, 99).next]).to.deep.equal([
      undefined,
      undefined,
      undefined,
    ]);
    expect(list.page(2).next).to.be.a('number');
  });

  it('is the same one, asked for again, and not made anew', () => {
    const page = list.page(2, 1);
    expect(list.page(2, 1)).to.equal(page);
    expect([list.page(2), list.page(1, 1)]).not.to.include(page);
  });
});

/** Something that happens to a list: plants come, plants go, or somebody looks, which must change nothing. */
type Happening =
  | { readonly kind: 'create'; readonly id: number }
  | { readonly kind: 'delete'; readonly index: number }
  | { readonly kind: 'create many' | 'delete many'; readonly first: number; readonly count: number }
  | { readonly kind: 'look'; readonly limit: number; readonly after: number };

const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('create'), id: fc.nat(60) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete'), index: fc.nat(60) }) },
  // The oldest ones, so that long stretches of nothing arise at the start of the list.
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete'), index: fc.constant(0) }) },
  // So many that they fill several segments, and that whole ones become empty.
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom('create many', 'delete many'),
      first: fc.nat(400),
      count: fc.nat(100),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('look'), limit: fc.nat(150), after: fc.nat(600) }) },
);

const happenings = (maxLength: number) => fc.array(happening, { maxLength, size: 'max' });

describe('Whatever happens to a list', () => {
  it('shows the pages that a plain array would, from any position', () => {
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

  it('shows nothing of it in a page that was handed out before', () => {
    fc.assert(
      fc.property(happenings(200), happenings(100), fc.nat(40), fc.nat(200), (before, after, limit, from) => {
        const [list, naive] = [new PlantList(), new NaiveList()];
        for (const what of before) happen(what, list, naive);
        const page = list.page(limit, from);
        const asItWas = page.plants;
        for (const what of after) happen(what, list, naive);
        expect(page.plants).to.deep.equal(asItWas);
      }),
      { numRuns: RUNS },
    );
  });

  it('hands out most of a long list in the very pieces of before', () => {
    const past = Array.from({ length: 1000 }, (_, id) => created(id, 'Fern'));
    const list = PlantList.from(past);
    const before = new Set(list.page().stretches.map(({ segment }) => segment));
    for (const event of [deleted(0), deleted(500), created(1000, 'Moss')]) list.evolve(event);
    const pieces = list.page().stretches.map(({ segment }) => segment);
    expect(pieces.filter((piece) => !before.has(piece))).to.have.length(3);
    expect(pieces).to.have.length.above(12);
  });

  it('is the same list as one that is rebuilt from its events', () => {
    fc.assert(
      fc.property(happenings(150), (past) => {
        const [list, naive] = [new PlantList(), new NaiveList()];
        for (const what of past) happen(what, list, naive);
        expectSame(list, PlantList.from(naive.history));
      }),
      { numRuns: RUNS },
    );
  });

  it('holds no id twice, and refuses what could not have happened', () => {
    fc.assert(
      fc.property(happenings(100), fc.nat(60), (past, id) => {
        const [list, naive] = [new PlantList(), new NaiveList()];
        for (const what of past) happen(what, list, naive);
        const alive = naive.ids.includes(plantId(id));

        expect(list.has(plantId(id))).to.equal(alive);
        expect(() => list.evolve(alive ? created(id, 'again') : deleted(id))).to.throw(ImpossibleHistory);
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
        const [list, naive] = [new PlantList(), new NaiveList()];
        for (const what of before) happen(what, list, naive);
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

function happen(what: Happening, list: PlantList, naive: NaiveList): void {
  if (what.kind === 'look') {
    list.page(what.limit, what.after);
    return;
  }
  for (const event of events(what, naive)) if (event) list.evolve(event);
}

function events(what: Exclude<Happening, { kind: 'look' }>, naive: NaiveList): (PlantEvent | undefined)[] {
  switch (what.kind) {
    case 'create':
      return [naive.create(what.id)];
    case 'delete':
      return [naive.delete(what.index)];
    case 'create many':
      return Array.from({ length: what.count }, (_, n) => naive.create(what.first + n));
    case 'delete many':
      return Array.from({ length: what.count }, () => naive.delete(what.first));
  }
}

/** Nobody who asks can tell the two apart. */
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
