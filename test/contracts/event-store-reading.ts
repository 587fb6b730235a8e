/** First suite of the contract, continued: one example for each promise about what is read back, and where. */
import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { BEGINNING, type Head } from '../../src/application';
import type { PlantEvent } from '../../src/domain';
import { MAX_INT64, MIN_INT64 } from '../domain/arbitraries';
import { created, deleted, plantId } from '../support/given';
import { Stream, fern, gone, headOf, moss, recorded } from './a-stream';
import type { Subject } from './event-store';

export function readingExamples(subject: Subject): void {
  const aStream = () => new Stream(subject.store);

  describe('a read', () => {
    it('of a stream that was never written finds it empty', async () => {
      expect(await aStream().read(BEGINNING)).to.deep.equal({ status: 'read', events: [], more: false });
    });

    it('goes on behind any event, also inside of a commit, and at the end finds nothing', async () => {
      const stream = aStream();
      await stream.add(await stream.add(BEGINNING, fern), moss, gone, created(3, 'Aloe'));
      const history = await stream.history();
      for (const event of history) {
        expect(await stream.history(headOf(event))).to.deep.equal(history.slice(event.version));
      }
    });

    for (const excess of [0, 1]) {
      it(`hands a history of two pages and ${excess} over page by page, up to its end`, async () => {
        const stream = aStream();
        const length = 2 * subject.pageSize + excess;
        const head = await stream.grow(BEGINNING, length);

        const page = await stream.read(BEGINNING);
        if (page.status !== 'read') return expect.fail(page.status);
        expect(page.more).to.be.true;
        expect(page.events.length).to.be.within(1, subject.pageSize);

        const all = await stream.rest(page);
        expect(all.map(({ version }) => version)).to.deep.equal(
          Array.from({ length }, (_, index) => index + 1),
        );
        expect(all.at(-1)).to.include(head);
        expect(await stream.read(head)).to.deep.equal({ status: 'read', events: [], more: false });
      });
    }

    it('stays as it was answered when more is appended', async () => {
      const stream = aStream();
      const head = await stream.add(BEGINNING, fern);
      const answer = await stream.read(BEGINNING);
      await stream.add(head, moss);
      expect(answer).to.deep.equal({
        status: 'read',
        events: recorded(BEGINNING, head.commit, [fern]),
        more: false,
      });
    });
  });

  describe('streams', () => {
    it('are apart, whatever they are called', async () => {
      const streams = oddNames().map((name) => new Stream(subject.store, name));
      const heads: Head[] = [];
      for (const [index, stream] of streams.entries()) {
        heads.push(await stream.add(BEGINNING, created(index, stream.name)));
      }
      for (const [index, stream] of streams.entries()) {
        expect(await stream.history(), stream.name).to.deep.equal(
          recorded(BEGINNING, heads[index]!.commit, [created(index, stream.name)]),
        );
      }
    });

    it("do not know each other's histories", async () => {
      const [one, other] = [aStream(), aStream()];
      const head = await one.add(BEGINNING, fern);
      await other.add(BEGINNING, fern);
      expect(await other.read(head)).to.deep.equal({ status: 'reset' });
    });
  });

  describe('what was handed in', () => {
    it('comes back exactly', async () => {
      const stream = aStream();
      const events: PlantEvent[] = [
        ...ODD_TEXTS.map((text, index) => created(index, text, text)),
        created(100, 'no tag'),
        created(101, 'empty tag', ''),
        ...EXTREME_IDS.flatMap((id) => [created(id, 'Fern'), deleted(id)]),
      ];
      const head = await stream.add(BEGINNING, ...events);
      expect(await stream.history()).to.deep.equal(recorded(BEGINNING, head.commit, events));
    });
  });
}

const EXTREME_IDS = [MIN_INT64, -(2n ** 53n) - 1n, -1n, 0n, 2n ** 53n, 2n ** 53n + 1n, MAX_INT64].map(
  plantId,
);

const ODD_TEXTS = [
  'Büschelfarn, 観葉植物, نبتة',
  '🌵👩🏽‍🌾',
  'e\u0301 is not \u00e9',
  '"quoted" \\ and \'quoted\'',
  'null',
  '{"name":"Fern"}',
  '0123',
  ' blanks around ',
  'line\r\nbreak\ttab \u2028\u2029\u0085',
  '\0\x01\x7f\ufeff\uffff\u{10ffff}',
  '__proto__',
  'long '.repeat(10_000),
];

const ODD_NAMES =
  '{ } {} {a} %7Ba%7D % %25 %00 : :events / %2F .. \\ | * ? [a] " \' # + é e\u0301 A a 🌵 __proto__ constructor';

/** Names that a careless encoding would mix up with each other, none of them used before. */
function oddNames(): string[] {
  const unique = randomUUID().slice(0, 8);
  const odd = ['', ' ', '\0', '\n', ...ODD_NAMES.split(' ')];
  const names = odd.flatMap((text) => [`${text}${unique}`, `${unique}${text}`, `${text}${unique}${text}`]);
  names.push(unique.padEnd(255, 'x'), unique.padEnd(254, 'x'), unique + '🌵'.repeat(255 - unique.length));
  return [...new Set(names)];
}
