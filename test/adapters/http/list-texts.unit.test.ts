import { expect } from 'chai';
import fc from 'fast-check';
import { ListTexts } from '../../../src/adapters/http/list-texts';
import { Page, type PlantCreated, PlantList } from '../../../src/domain';
import { created, deleted } from '../../support/given';
import { RUNS } from '../../domain/arbitraries';

const MANY = 20_000;

function listOf(count: number): PlantList {
  return PlantList.from(Array.from({ length: count }, (_, id) => created(id, `Fern ${id}`)));
}

describe('The text of a list', () => {
  it('is the JSON of its plants, whatever was written between two of them', async () => {
    const name = fc.string({ minLength: 1, unit: 'grapheme' });
    const write = fc.record({ id: fc.nat(300), count: fc.nat(80), name, tag: fc.option(name) });
    const look = fc.record({ limit: fc.nat(200), after: fc.nat(400) });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(write, look)), async (past) => {
        const [texts, list] = [new ListTexts(), new PlantList()];
        for (const [{ id, count, name, tag }, { limit, after }] of past) {
          for (let n = id; n < id + count; n++) {
            const plant: PlantCreated = created(n, name, tag ?? undefined);
            list.evolve(list.has(plant.id) ? deleted(n) : plant);
          }
          const page = list.page(limit, after);
          expect(String(await texts.of(page))).to.equal(JSON.stringify(page.plants));
        }
      }),
      { numRuns: RUNS },
    );
  });

  it('is made at once where it is short', () => {
    expect(new ListTexts().of(new PlantList().page())).to.deep.equal(Buffer.from('[]'));
    expect(new ListTexts().of(listOf(1000).page())).to.be.instanceOf(Buffer);
  });

  it('is made in many pieces where it is long, and everybody else has his turn in between', async () => {
    const page = listOf(MANY).page();
    let turns = 0;
    const turn = () => {
      turns++;
      running = setImmediate(turn);
    };
    let running = setImmediate(turn);
    const text = await new ListTexts().of(page);
    clearImmediate(running);

    expect(text.toString()).to.equal(JSON.stringify(page.plants));
    expect(turns).to.be.above(4);
  });

  it('is made one after the other where several are long', async () => {
    const texts = new ListTexts();
    const order: string[] = [];
    const told = (name: string, page: Page) => {
      const stretches = page.stretches.map(({ segment, from, to }) => {
        const seen = {
          get plants() {
            return (order.at(-1) === name || order.push(name), segment.plants);
          },
        };
        return { segment: seen, from, to };
      });
      return texts.of(new Page(stretches, undefined));
    };
    const lists = [listOf(MANY), listOf(MANY), listOf(MANY)].map((list, index) =>
      told(String(index), list.page()),
    );
    // Of each the beginning at once: only then it is known to be long.
    expect(order).to.deep.equal(['0', '1', '2']);
    expect(String(await lists[2])).to.equal(JSON.stringify(listOf(MANY).page().plants));
    expect(order).to.deep.equal(['0', '1', '2', '0', '1', '2']);
  });

  it('is made also behind one that failed', async () => {
    const texts = new ListTexts();
    const broken = listOf(MANY)
      .page()
      .stretches.map(({ from, to }, index, all) => {
        if (index < all.length - 1) return all[index]!;
        return {
          segment: {
            get plants(): never {
              throw new Error('broken');
            },
          },
          from,
          to,
        };
      });
    const failed = texts.of(new Page(broken, undefined)) as Promise<Buffer>;
    const next = texts.of(listOf(MANY).page());
    expect(await failed.catch((error: unknown) => (error as Error).message)).to.equal('broken');
    expect(String(await next)).to.equal(JSON.stringify(listOf(MANY).page().plants));
  });

  it('is that of the moment when it was asked for, however long it takes', async () => {
    const list = listOf(MANY);
    const page = list.page();
    const then = JSON.stringify(page.plants);
    const text = new ListTexts().of(page);
    for (let id = 0; id < MANY; id += 3) list.evolve(deleted(id));
    expect((await text).toString()).to.equal(then);
  });

  it('costs no more than the pieces that a write has changed', async () => {
    const [texts, list] = [new ListTexts(), listOf(MANY)];
    const first = await stringified(() => texts.of(list.page()));
    list.evolve(created(MANY, 'Moss'));
    list.evolve(deleted(MANY / 2));
    const second = await stringified(() => texts.of(list.page()));

    expect(first).to.equal(MANY);
    expect(second).to.be.within(2, 256);
  });
});

/** How many plants were turned into JSON while `work` was done. */
async function stringified(work: () => unknown): Promise<number> {
  const stringify = JSON.stringify;
  let plants = 0;
  JSON.stringify = ((value: readonly unknown[]) => {
    plants += value.length;
    return stringify(value);
  }) as typeof stringify;
  try {
    await work();
  } finally {
    JSON.stringify = stringify;
  }
  return plants;
}
