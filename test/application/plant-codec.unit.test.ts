import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';
import { type Upcaster, plantCodec, plantCodecWith } from '../../src/application';
import type { PlantEvent } from '../../src/domain';
import { RUNS, anyEvent } from '../domain/arbitraries';
import { created, deleted, plantId } from '../support/given';

const FERN = '{"id":1,"name":"Fern"}';
const { encode, decode } = plantCodec;

describe('The codec of plant events', () => {
  /** By type, so that the compiler requires each new type. They never change, because histories contain them. */
  const WRITTEN: Readonly<Record<PlantEvent['type'], readonly [event: PlantEvent, data: string]>> = {
    PlantCreated: [
      created(plantId('9007199254740993'), 'Fern', 'indoor'),
      '{"id":9007199254740993,"name":"Fern","tag":"indoor"}',
    ],
    PlantDeleted: [deleted(plantId('9007199254740993')), '{"id":9007199254740993}'],
  };
  const decision = readFileSync('docs/decisions/0003-storage-format.md', 'utf8').replaceAll('\\"', '"');

  for (const [type, [event, data]] of Object.entries(WRITTEN)) {
    it(`writes ${type} as its type, and JSON with the id first in exact digits`, () => {
      expect(encode(event)).to.deep.equal({ type, data });
    });

    it(`writes ${type} as 0003 shows it`, () => {
      expect(decision).to.match(new RegExp(`"${type}"\\n.*"data"\\n.*"${data}"`));
    });
  }

  it('writes the smallest id in exact digits', () => {
    expect(encode(deleted(plantId('-9223372036854775808'))).data).to.equal('{"id":-9223372036854775808}');
  });

  it('writes a tag only if there is one, including the empty tag', () => {
    expect(encode(created(1, 'Fern')).data).to.equal(FERN);
    expect(encode(created(1, 'Fern', '')).data).to.equal('{"id":1,"name":"Fern","tag":""}');
  });

  it('writes readable text, and escapes only what JSON must escape', () => {
    expect(encode(created(1, 'Büschel "🌵"\n')).data).to.equal('{"id":1,"name":"Büschel \\"🌵\\"\\n"}');
  });

  it('decodes any encoded event exactly', () => {
    fc.assert(
      fc.property(anyEvent, (event) => {
        expect(decode(encode(event))).to.deep.equal(event);
      }),
      { numRuns: 5 * RUNS },
    );
  });

  it('decodes data with one changed character only if it is the encoding of another event', () => {
    fc.assert(
      fc.property(anyEvent, fc.nat(), fc.string({ maxLength: 1 }), (event, anywhere, character) => {
        const { type, data } = encode(event);
        const at = anywhere % data.length;
        const changed = { type, data: data.slice(0, at) + character + data.slice(at + 1) };
        const read = decode(changed);
        if (read !== undefined) expect(encode(read)).to.deep.equal(changed);
      }),
      { numRuns: 10 * RUNS },
    );
  });
});

describe('The codec of plant events does not read', () => {
  function doesNotRead(what: string, encoded: { type: string; data: string }): void {
    it(what, () => expect(decode(encoded)).to.be.undefined);
  }

  for (const type of ['PlantMoved', 'plantCreated', 'PlantCreated ', '', 'constructor', '__proto__']) {
    doesNotRead(`the type ${JSON.stringify(type)}`, { type, data: FERN });
  }

  const creations = {
    'no JSON': 'Fern',
    'JSON that breaks off': '{"id":1,"name":"Fern"',
    'nothing at all': '',
    'a value that is not an object': '1',
    null: 'null',
    'a list': '[1,"Fern"]',
    'no id': '{"name":"Fern"}',
    'an id that is a string': '{"id":"1","name":"Fern"}',
    'an id that is not an integer': '{"id":1.5,"name":"Fern"}',
    'an id with a fraction of zero': '{"id":1.0,"name":"Fern"}',
    'an id with a leading zero': '{"id":01,"name":"Fern"}',
    'the id -0': '{"id":-0,"name":"Fern"}',
    'an id beyond 2^63-1': '{"id":9223372036854775808,"name":"Fern"}',
    'the id in another place': '{"name":"Fern","id":1}',
    'the id twice': '{"id":1,"id":1,"name":"Fern"}',
    'no name': '{"id":1}',
    'a name that is not a string': '{"id":1,"name":7}',
    'an empty name': '{"id":1,"name":""}',
    'a name that is not well-formed': '{"id":1,"name":"\\ud800"}',
    'a tag that is not well-formed': '{"id":1,"name":"Fern","tag":"\\udc00"}',
    'the name twice': '{"id":1,"name":"Moss","name":"Fern"}',
    'a tag that is null': '{"id":1,"name":"Fern","tag":null}',
    'the tag before the name': '{"id":1,"tag":"indoor","name":"Fern"}',
    'a member that it does not know': '{"id":1,"name":"Fern","none":"red"}',
    'a member in the place of the tag': '{"id":1,"name":"Fern","__proto__":"indoor"}',
    blanks: '{"id":1, "name":"Fern"}',
    'another spelling of the same text': '{"id":1,"name":"\\u0046ern"}',
    'a trailing line feed': `${FERN}\n`,
  };
  for (const [what, data] of Object.entries(creations))
    doesNotRead(`a creation of ${what}`, { type: 'PlantCreated', data });

  doesNotRead('a deletion without an id', { type: 'PlantDeleted', data: '{}' });
  doesNotRead('a deletion with a name', { type: 'PlantDeleted', data: FERN });
});

describe('The codec of plant events, given upcasters for types that are no longer written,', () => {
  // Fictitious: version 1 recorded PlantLabelled, version 2 PlantSown.
  const upcasters: Record<string, Upcaster> = {
    PlantLabelled: (data) => ({ type: 'PlantSown', data: data.replace('"label":', '"sort":') }),
    PlantSown: (data) => ({ type: 'PlantCreated', data: data.replace('"sort":', '"name":') }),
  };
  const read = (type: string, data: string) => plantCodecWith(upcasters).decode({ type, data });

  it('upcasts an old event', () => {
    expect(read('PlantSown', '{"id":1,"sort":"Fern"}')).to.deep.equal(created(1, 'Fern'));
  });

  it('upcasts it through all generations', () => {
    expect(read('PlantLabelled', '{"id":1,"label":"Fern"}')).to.deep.equal(created(1, 'Fern'));
  });

  it('decodes upcast data only if it is in the current format', () => {
    expect(read('PlantSown', '{"id":1,"sort":7}')).to.be.undefined;
  });

  it('does not decode a type without an upcaster', () => {
    expect(decode({ type: 'PlantSown', data: '{"id":1,"sort":"Fern"}' })).to.be.undefined;
    expect(read('toString', FERN)).to.be.undefined;
  });
});
