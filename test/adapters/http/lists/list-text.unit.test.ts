import { expect } from 'chai';
import fc from 'fast-check';
import {
  type ListPlace,
  START,
  isShort,
  render,
  renderPiece,
} from '../../../../src/adapters/http/lists/list-text';
import { Measurement } from '../../../../src/adapters/http/lists/measurement';
import { PIECE_LENGTH, SegmentTexts } from '../../../../src/adapters/http/lists/segment-texts';
import { type Page, type PlantCreated, PlantList } from '../../../../src/domain';
import { created, deleted, plantId } from '../../../support/given';
import { RUNS, anyPlant } from '../../../domain/arbitraries';

const MANY = 20_000;

function listOf(count: number, name = 'Fern'): PlantList {
  return PlantList.from(Array.from({ length: count }, (_, id) => created(id, `${name} ${id}`)));
}

/** The text in pieces, and the number of bytes of each piece. */
function inPieces({ ranges }: Page, segments = new SegmentTexts()): { text: string; pieces: number[] } {
  const texts: Buffer[] = [];
  for (let place: ListPlace | undefined = START; place !== undefined;) {
    const piece = renderPiece(ranges, place, segments);
    texts.push(piece.text);
    place = piece.next;
  }
  return { text: Buffer.concat(texts).toString(), pieces: texts.map(({ length }) => length) };
}

/** The measured length of the text in bytes, and the number of steps. */
function measure({ ranges }: Page, segments = new SegmentTexts()): { length: number; steps: number } {
  const measurement = new Measurement(ranges, segments, () => {});
  for (let steps = 1; ; steps++) {
    const length = measurement.advance(() => true);
    if (length !== undefined) return { length, steps };
  }
}

describe('The text of a list', () => {
  it('is the JSON of its plants, with any writes between two lists', () => {
    const write = fc.record({ id: fc.nat(300), count: fc.nat(80), plant: anyPlant });
    const look = fc.record({ limit: fc.nat(200), after: fc.nat(400) });
    fc.assert(
      fc.property(fc.array(fc.tuple(write, look)), (past) => {
        const [segments, list] = [new SegmentTexts(10_000), new PlantList()];
        for (const [{ id, count, plant }, { limit, after }] of past) {
          for (let n = id; n < id + count; n++) {
            const creation: PlantCreated = { type: 'PlantCreated', id: plantId(n), plant };
            list.evolve(list.has(creation.id) ? deleted(n) : creation);
          }
          const page = list.page(limit, after);
          const text = JSON.stringify(page.plants);
          expect(render(page.ranges, segments).toString()).to.equal(text);
          if (page.ranges.length === 0) continue;
          expect(inPieces(page, segments).text).to.equal(text);
          expect(measure(page, segments).length).to.equal(Buffer.byteLength(text));
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
      for (const page of pages)
        expect(render(page.ranges, segments).toString()).to.equal(JSON.stringify(page.plants));
    }
  });

  it('is short up to the length of a piece, without its escapes', () => {
    const list = (length: number) => PlantList.from([created(1, '\u0001'.repeat(length))]).page().ranges;
    expect(isShort(new PlantList().page().ranges)).to.equal(true);
    expect(isShort(list(PIECE_LENGTH - 12))).to.equal(true);
    expect(isShort(list(PIECE_LENGTH - 11))).to.equal(false);
    expect(isShort(listOf(5000, '').page().ranges)).to.equal(false);
  });

  for (const [what, list] of Object.entries({
    'many plants': listOf(MANY),
    'long names': listOf(300, 'long name '.repeat(2000)),
    'a page that begins and ends within a segment': listOf(3000, 'long name '.repeat(200)),
  })) {
    it(`has several pieces if it is long: ${what}`, () => {
      const page = what.startsWith('a page') ? list.page(2950, 30) : list.page();
      const { text, pieces } = inPieces(page);
      expect(text).to.equal(JSON.stringify(page.plants));
      expect(measure(page).length).to.equal(Buffer.byteLength(text));
      expect(measure(page).steps).to.be.above(4);
      expect(pieces).to.have.length.above(4);
      expect(Math.max(...pieces)).to.be.below(2 * PIECE_LENGTH);
    });
  }

  it('is that of the moment of its page', () => {
    const list = listOf(MANY);
    const page = list.page();
    const then = JSON.stringify(page.plants);
    for (let id = 0; id < MANY; id += 3) list.evolve(deleted(id));
    expect(inPieces(page).text).to.equal(then);
  });

  it('costs only the segments that a write has changed', () => {
    const [segments, list] = [new SegmentTexts(), listOf(MANY)];
    const send = () => {
      measure(list.page(), segments);
      inPieces(list.page(), segments);
    };
    const first = stringified(send);
    list.evolve(created(MANY, 'Moss'));
    list.evolve(deleted(MANY / 2));
    const second = stringified(send);

    expect(first).to.equal(MANY);
    expect(second).to.be.within(2, 256);
  });
});

describe('The length of a list', () => {
  it('is measured without rendering, for any part of a list of long names that was measured before', () => {
    const [segments, list] = [new SegmentTexts(), listOf(200, 'x'.repeat(10_000))];
    measure(list.page(), segments);
    const again = stringified(() => {
      for (const limit of [200, 199, 100, 1]) measure(list.page(limit), segments);
    });
    // Only a short rest of a range.
    expect(again).to.be.below(5);
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
