import { expect } from 'chai';
import fc from 'fast-check';
import { ListText, PIECE_LENGTH, SegmentTexts } from '../../../src/adapters/http/list-text';
import { type Page, type PlantCreated, PlantList } from '../../../src/domain';
import { created, deleted } from '../../support/given';
import { RUNS } from '../../domain/arbitraries';

const MANY = 20_000;

function listOf(count: number, name = 'Fern'): PlantList {
  return PlantList.from(Array.from({ length: count }, (_, id) => created(id, `${name} ${id}`)));
}

/** The complete text, and the number of bytes of each piece. */
function render({ ranges }: Page, segments = new SegmentTexts()): { text: string; pieces: number[] } {
  const text = new ListText(ranges, segments);
  const pieces: number[] = [];
  for (;;) {
    const before = text.bytes;
    const whole = text.advance();
    pieces.push(text.bytes - before);
    if (whole) return { text: whole.toString(), pieces };
  }
}

describe('The text of a list', () => {
  it('is the JSON of its plants, with any writes between two lists', () => {
    const name = fc.string({ minLength: 1, unit: 'grapheme' });
    const write = fc.record({ id: fc.nat(300), count: fc.nat(80), name, tag: fc.option(name) });
    const look = fc.record({ limit: fc.nat(200), after: fc.nat(400) });
    fc.assert(
      fc.property(fc.array(fc.tuple(write, look)), (past) => {
        const [segments, list] = [new SegmentTexts(10_000), new PlantList()];
        for (const [{ id, count, name, tag }, { limit, after }] of past) {
          for (let n = id; n < id + count; n++) {
            const plant: PlantCreated = created(n, name, tag ?? undefined);
            list.evolve(list.has(plant.id) ? deleted(n) : plant);
          }
          const page = list.page(limit, after);
          expect(render(page, segments).text).to.equal(JSON.stringify(page.plants));
        }
      }),
      { numRuns: RUNS },
    );
  });

  it('has only the plants of its page, whether or not the texts of whole segments are kept', () => {
    const list = listOf(100);
    for (const pages of [
      [list.page(), list.page(10), list.page(50, 20)],
      [list.page(10), list.page(50, 20), list.page()],
    ]) {
      const segments = new SegmentTexts();
      for (const page of pages) expect(render(page, segments).text).to.equal(JSON.stringify(page.plants));
    }
  });

  it('has one piece if it is short', () => {
    expect(render(new PlantList().page())).to.deep.equal({ text: '[]', pieces: [2] });
    expect(render(listOf(1000).page()).pieces).to.have.length(1);
  });

  for (const [what, list] of Object.entries({
    'many plants': listOf(MANY),
    'long names': listOf(300, 'long name '.repeat(2000)),
    'a page that begins and ends within a segment': listOf(3000, 'long name '.repeat(200)),
  })) {
    it(`has several pieces if it is long: ${what}`, () => {
      const page = what.startsWith('a page') ? list.page(2950, 30) : list.page();
      const { text, pieces } = render(page);
      expect(text).to.equal(JSON.stringify(page.plants));
      expect(pieces).to.have.length.above(4);
      expect(Math.max(...pieces)).to.be.below(2 * PIECE_LENGTH);
    });
  }

  it('is that of the moment when rendering began', () => {
    const list = listOf(MANY);
    const page = list.page();
    const then = JSON.stringify(page.plants);
    const text = new ListText(page.ranges, new SegmentTexts());
    let whole = text.advance();
    for (let id = 0; id < MANY; id += 3) list.evolve(deleted(id));
    while (whole === undefined) whole = text.advance();
    expect(whole.toString()).to.equal(then);
  });

  it('costs only the segments that a write has changed', () => {
    const [segments, list] = [new SegmentTexts(), listOf(MANY)];
    const first = stringified(() => render(list.page(), segments));
    list.evolve(created(MANY, 'Moss'));
    list.evolve(deleted(MANY / 2));
    const second = stringified(() => render(list.page(), segments));

    expect(first).to.equal(MANY);
    expect(second).to.be.within(2, 256);
  });
});

describe('The cache of segment texts', () => {
  it('keeps the latest texts, up to a bound in bytes', () => {
    const [segments, list] = [new SegmentTexts(100_000), listOf(MANY)];
    const { ranges } = list.page();
    for (const { segment } of ranges) {
      segments.set(segment, JSON.stringify(segment.plants));
      expect(segments.bytes).to.be.at.most(100_000);
    }
    expect(segments.bytes).to.be.above(30_000);
    expect(segments.get(ranges.at(-1)!.segment)).to.equal(JSON.stringify(ranges.at(-1)!.segment.plants));
    expect(segments.get(ranges[0]!.segment)).to.equal(undefined);
  });

  it('keeps a text that is used while others are added', () => {
    const [segments, list] = [new SegmentTexts(100_000), listOf(MANY)];
    const [used, ...others] = list.page().ranges.map(({ segment }) => segment);
    segments.set(used!, 'used');
    for (const segment of others) {
      segments.set(segment, 'x'.repeat(2000));
      expect(segments.get(used!)).to.equal('used');
    }
  });

  it('does not keep a text that alone exceeds the bound', () => {
    const [segments, list] = [new SegmentTexts(1000), listOf(1)];
    const { segment } = list.page().ranges[0]!;
    segments.set(segment, 'x'.repeat(1000));
    expect([segments.get(segment), segments.bytes]).to.deep.equal([undefined, 0]);
  });
});

/** The number of plants that `work` serializes. */
function stringified(work: () => unknown): number {
  const stringify = JSON.stringify;
  let plants = 0;
  JSON.stringify = ((value: readonly unknown[]) => {
    plants += value.length;
    return stringify(value);
  }) as typeof stringify;
  try {
    work();
  } finally {
    JSON.stringify = stringify;
  }
  return plants;
}
