import { readFileSync, readdirSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';
import { plantListCodec } from '../../src/application';
import { MEMBER_NAMES, type Plant, type PlantEvent, PlantList } from '../../src/domain';
import { RUNS, anyEvent } from '../domain/arbitraries';
import { NaiveList } from '../domain/naive-list';
import { created, deleted, ferns, plantId } from '../support/given';

const { format, encode, readers } = plantListCodec;
const decode = readers[format]!;

/** A list that was stored in a format: its chunks are never changed. */
interface StoredList {
  readonly format: string;
  readonly chunks: readonly string[];
  readonly version: number;
  readonly living: readonly { readonly position: number; readonly id: string; readonly plant: Plant }[];
}

const STORED = 'test/fixtures/states';

function decodeAll(chunks: Iterable<string>): PlantList {
  let list = new PlantList();
  for (const chunk of chunks) list = decode(list, chunk);
  return list;
}

/** The events that are possible, in order, applied to a list. */
function listOf(events: readonly PlantEvent[]): PlantList {
  const [list, naive] = [new PlantList(), new NaiveList()];
  for (const event of events) if (naive.evolve(event)) list.evolve(event);
  return list;
}

describe('The codec of plant lists', () => {
  it('writes the living plants with their positions and exact ids, then the version', () => {
    const list = PlantList.from([
      created(plantId('9007199254740993'), 'Fern'),
      created(2, 'Moss'),
      created(7, 'Ivy', 'indoor'),
      deleted(2),
    ]);
    const chunk = '[[1,"9007199254740993","Fern"],[3,7,"Ivy","indoor"],[4]]';
    expect([...encode(list)]).to.deep.equal([chunk]);
    expect([...encode(new PlantList())]).to.deep.equal(['[[0]]']);
    expect(readFileSync('docs/decisions/0014-snapshots.md', 'utf8')).to.contain(`0 ${chunk}\n`);
  });

  // Where a chunk changes, the format needs another name: instances of both versions run during a deployment.
  it('reads every format that was ever written, and writes the last one as it is stored', () => {
    const stored = readdirSync(STORED).map(
      (file) => JSON.parse(readFileSync(`${STORED}/${file}`, 'utf8')) as StoredList,
    );
    expect(stored.map((each) => each.format)).to.have.members(Object.keys(readers));
    for (const { format: written, chunks, version, living } of stored) {
      let list = new PlantList();
      for (const chunk of chunks) list = readers[written]!(list, chunk);
      expect({ version: list.version, living: [...list.living()] }).to.deep.equal({ version, living });
      const rows = (texts: Iterable<string>) => [...texts].flatMap((text) => JSON.parse(text) as unknown[]);
      if (written === format) expect(rows(encode(list))).to.deep.equal(rows(chunks));
    }
  });

  it('writes an id of up to 15 characters as a number', () => {
    const ids = ['123456789012345', '1234567890123456'];
    const list = PlantList.from(ids.map((id) => created(plantId(id), 'Fern')));
    const chunk = '[[1,123456789012345,"Fern"],[2,"1234567890123456","Fern"],[2]]';
    expect([...encode(list)]).to.deep.equal([chunk]);
  });

  it('reads the list that it wrote', () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 300, size: 'max' }), (events) => {
        const list = listOf(events);
        const read = decodeAll(encode(list));
        expect([read.version, read.size, read.bytes]).to.deep.equal([list.version, list.size, list.bytes]);
        expect(read.page().plants).to.deep.equal(list.page().plants);
        expect([...read.living()]).to.deep.equal([...list.living()]);
      }),
      { numRuns: RUNS },
    );
  });

  it('writes a long list in chunks of about 32 KiB', () => {
    const chunks = [...encode(PlantList.from(ferns(10_000)))];
    expect(chunks).to.have.length.above(3);
    for (const { length } of chunks.slice(0, -1)) expect(length).to.be.within(20_000, 40_000);
    expect(chunks.at(-1)).to.have.length.below(40_000);
    expect(decodeAll(chunks).size).to.equal(10_000);
  });

  it('writes equal lists as equal chunks, also if their segments differ', () => {
    const history: PlantEvent[] = ferns(10_000);
    for (let id = 1; id < 5000; id += 3) history.push(deleted(id));
    const list = PlantList.from(history);
    expect([...encode(decodeAll(encode(list)))]).to.deep.equal([...encode(list)]);
  });

  it('writes the list as it was when the encoding began', () => {
    const list = PlantList.from(ferns(5000));
    const before = [...encode(list)];
    const encoding = encode(list);
    const chunks: string[] = [];
    list.evolve(deleted(0));
    for (const chunk of encoding) {
      chunks.push(chunk);
      list.evolve(deleted(chunks.length));
      list.evolve(created(5000 + chunks.length, 'Moss'));
    }
    expect(chunks).to.deep.equal(before);
  });

  for (const [what, chunk, message] of [
    ['text that is no JSON', '[[1,1,"Fe', 'a chunk is not a JSON array of rows'],
    ['JSON that is no array', '{}', 'a chunk is not a JSON array of rows'],
    ['a row that is no array', '[1]', 'a chunk is not a JSON array of rows'],
    ['a row that is no array after one that is', '[[1,1,"Ivy"],7]', 'a chunk is not a JSON array of rows'],
    ['a row without a position', '[["1","Fern"]]', 'a row without a position'],
    ['an id that is a fraction', '[[1,1.5,"Fern"]]', 'no plant at position 1'],
    ['an id beyond int64', '[[1,1e19,"Fern"]]', 'no plant at position 1'],
    ['an id that is not canonical', '[[1,"01","Fern"]]', 'no plant at position 1'],
    ['an id that is an array', '[[1,["1"],"Fern"]]', 'no plant at position 1'],
    ['a plant without a name', '[[1,1,""]]', 'no plant at position 1'],
    ['a tag that is no text', '[[1,1,"Fern",7]]', 'no plant at position 1'],
    ['an absent tag that is written', '[[1,1,"Fern",null]]', 'no plant at position 1'],
    [
      'a member that a plant does not have',
      JSON.stringify([[1, 1, ...MEMBER_NAMES.map(() => 'Fern'), 'Fern']]),
      'no plant at position 1',
    ],
    ['an id twice', '[[1,1,"Fern"],[2,1,"Moss"]]', 'event 2 of the history creates'],
    ['positions in another order', '[[2,2,"Moss"],[1,1,"Fern"]]', 'event 3 of the history is followed'],
    ['a version before the last position', '[[2,2,"Moss"],[1]]', 'event 3 of the history is followed'],
  ] as const) {
    it(`refuses ${what}, and the error says why without the text`, () => {
      expect(() => decode(new PlantList(), chunk))
        .to.throw(message)
        .with.property('message')
        .that.does.not.match(/Fe|Moss|01/);
    });
  }
});
