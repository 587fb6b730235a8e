import { expect } from 'chai';
import fc from 'fast-check';
import { type Upcaster, decodeEntry, encodeEvent } from '../../../src/adapters/redis/storage-format';
import { UnreadableHistory } from '../../../src/application';
import { RUNS, anyEvent } from '../../domain/arbitraries';
import { created, deleted, plantId } from '../../support/given';

const COMMIT = '2026-11-20T21:20:33.123Z-9f2c51d07b3a88e4';
const FERN = '{"id":1,"name":"Fern"}';

/** An entry as this service writes it; each test spoils one thing about it. */
function entry({ id = '7-0', type = 'PlantCreated', data = FERN } = {}) {
  return [id, ['type', type, 'data', data, 'commit', COMMIT]] as const;
}

describe('An event in Redis', () => {
  it('is its type, and JSON with the id first in exact digits', () => {
    expect(encodeEvent(created(plantId('9007199254740993'), 'Fern', 'indoor'))).to.deep.equal({
      type: 'PlantCreated',
      data: '{"id":9007199254740993,"name":"Fern","tag":"indoor"}',
    });
    expect(encodeEvent(deleted(plantId('-9223372036854775808')))).to.deep.equal({
      type: 'PlantDeleted',
      data: '{"id":-9223372036854775808}',
    });
  });

  it('has a tag only where there was one, were it empty', () => {
    expect(encodeEvent(created(1, 'Fern')).data).to.equal(FERN);
    expect(encodeEvent(created(1, 'Fern', '')).data).to.equal('{"id":1,"name":"Fern","tag":""}');
  });

  it('spells text as a person would read it, and escapes only what JSON must', () => {
    expect(encodeEvent(created(1, 'Büschel "🌵"\n')).data).to.equal('{"id":1,"name":"Büschel \\"🌵\\"\\n"}');
  });

  it('is read with the version and the commit of its entry', () => {
    expect(decodeEntry(entry(), 7)).to.deep.equal({
      version: 7,
      commit: COMMIT,
      event: created(1, 'Fern'),
    });
  });

  it('comes back exactly, whatever its id and texts', () => {
    fc.assert(
      fc.property(anyEvent, (event) => {
        expect(decodeEntry(entry(encodeEvent(event)), 7).event).to.deep.equal(event);
      }),
      { numRuns: 5 * RUNS },
    );
  });
});

describe('An entry that this service would not have written is refused:', () => {
  function refuses(what: string, spoilt: readonly [string, readonly string[]]): void {
    it(what, () => expect(() => decodeEntry(spoilt, 7)).to.throw(UnreadableHistory, `entry ${spoilt[0]} `));
  }

  for (const id of ['8-0', '6-0', '7-1', '07-0', '7', '1795209633123-0', '']) {
    refuses(`the id ${JSON.stringify(id)} where 7-0 is due`, entry({ id }));
  }

  const fields = {
    'no field': [],
    'a field too few': ['type', 'PlantCreated', 'data', FERN],
    'a field too many': [...entry()[1], 'user', 'alice'],
    'a field twice': ['type', 'PlantCreated', 'data', FERN, 'data', FERN],
    'the fields in another order': ['data', FERN, 'type', 'PlantCreated', 'commit', COMMIT],
    'a field by another name': ['Type', 'PlantCreated', 'data', FERN, 'commit', COMMIT],
    'another name for the data': ['type', 'PlantCreated', 'json', FERN, 'commit', COMMIT],
    'another name for the commit': ['type', 'PlantCreated', 'data', FERN, 'id', COMMIT],
  };
  for (const [what, list] of Object.entries(fields)) refuses(what, ['7-0', list]);

  for (const type of ['PlantMoved', 'plantCreated', 'PlantCreated ', '', 'constructor', '__proto__']) {
    refuses(`the type ${JSON.stringify(type)}`, entry({ type }));
  }

  const creations = {
    'no JSON': 'Fern',
    'JSON that breaks off': '{"id":1,"name":"Fern"',
    'nothing at all': '',
    'a value that is no object': '1',
    null: 'null',
    'a list': '[1,"Fern"]',
    'no id': '{"name":"Fern"}',
    'an id that is a string': '{"id":"1","name":"Fern"}',
    'an id that is no integer': '{"id":1.5,"name":"Fern"}',
    'an id with a fraction of zero': '{"id":1.0,"name":"Fern"}',
    'an id with a leading zero': '{"id":01,"name":"Fern"}',
    'the id -0': '{"id":-0,"name":"Fern"}',
    'an id beyond 2^63-1': '{"id":9223372036854775808,"name":"Fern"}',
    'the id in another place': '{"name":"Fern","id":1}',
    'the id twice': '{"id":1,"id":1,"name":"Fern"}',
    'no name': '{"id":1}',
    'a name that is no string': '{"id":1,"name":7}',
    'an empty name': '{"id":1,"name":""}',
    'a name that is not well-formed': '{"id":1,"name":"\\ud800"}',
    'a tag that is not well-formed': '{"id":1,"name":"Fern","tag":"\\udc00"}',
    'the name twice': '{"id":1,"name":"Moss","name":"Fern"}',
    'a tag that is null': '{"id":1,"name":"Fern","tag":null}',
    'the tag before the name': '{"id":1,"tag":"indoor","name":"Fern"}',
    'a member that it does not know': '{"id":1,"name":"Fern","pot":"red"}',
    'a member in the place of the tag': '{"id":1,"name":"Fern","__proto__":"indoor"}',
    blanks: '{"id":1, "name":"Fern"}',
    'another spelling of the same text': '{"id":1,"name":"\\u0046ern"}',
    'something behind the end': `${FERN}\n`,
  };
  for (const [what, data] of Object.entries(creations)) refuses(`a creation of ${what}`, entry({ data }));

  refuses('a deletion without an id', entry({ type: 'PlantDeleted', data: '{}' }));
  refuses('a deletion with a name', entry({ type: 'PlantDeleted', data: FERN }));

  it('whatever is done to one character of its data, unless it is another event then', () => {
    fc.assert(
      fc.property(anyEvent, fc.nat(), fc.string({ maxLength: 1 }), (event, anywhere, character) => {
        const { type, data } = encodeEvent(event);
        const at = anywhere % data.length;
        const changed = { type, data: data.slice(0, at) + character + data.slice(at + 1) };
        let read;
        try {
          read = decodeEntry(entry(changed), 7);
        } catch (error) {
          expect(error).to.be.an.instanceOf(UnreadableHistory);
          return;
        }
        expect(encodeEvent(read.event)).to.deep.equal(changed);
      }),
      { numRuns: 10 * RUNS },
    );
  });

  it('and named, so that an operator finds it, without what the user wrote', () => {
    expect(() => decodeEntry(entry({ type: 'PlantMoved', data: '{"id":1,"to":"the attic"}' }), 7)).to.throw(
      /^entry 7-0 holds no PlantMoved that this version knows$/,
    );
  });
});

describe('An event of a type that is no longer written', () => {
  // Invented: once upon a time plants were sown, and before that they had a label.
  const upcasters: Record<string, Upcaster> = {
    PlantLabelled: (data) => ({ type: 'PlantSown', data: data.replace('"label":', '"sort":') }),
    PlantSown: (data) => ({ type: 'PlantCreated', data: data.replace('"sort":', '"name":') }),
  };
  const read = (type: string, data: string) => decodeEntry(entry({ type, data }), 7, upcasters).event;

  it('is rewritten by its upcaster when it is read', () => {
    expect(read('PlantSown', '{"id":1,"sort":"Fern"}')).to.deep.equal(created(1, 'Fern'));
  });

  it('passes through all generations that came after it', () => {
    expect(read('PlantLabelled', '{"id":1,"label":"Fern"}')).to.deep.equal(created(1, 'Fern'));
  });

  it('is held to the format of today after that', () => {
    expect(() => read('PlantSown', '{"id":1,"sort":7}')).to.throw(UnreadableHistory);
  });

  it('is refused where it has no upcaster', () => {
    expect(() => decodeEntry(entry({ type: 'PlantSown', data: '{"id":1,"sort":"Fern"}' }), 7)).to.throw(
      UnreadableHistory,
    );
    expect(() => read('toString', FERN)).to.throw(UnreadableHistory);
  });
});
