import { expect } from 'chai';
import fc from 'fast-check';
import { jsonCodec } from '../../src/event-sourcing';

type Event =
  { readonly type: 'Moved'; readonly to: string; readonly by?: number } | { readonly type: 'Stopped' };

const isText = (value: unknown) => typeof value === 'string';
const isCount = (value: unknown) => value === undefined || Number.isSafeInteger(value);
const codec = jsonCodec<Event>({ Moved: { to: isText, by: isCount }, Stopped: {} });

describe('jsonCodec', () => {
  it('writes the members in the order of their checks', () => {
    const event = { by: 3, to: 'the left', type: 'Moved' } as const;
    expect(codec.encode(event)).to.deep.equal({ type: 'Moved', data: '{"to":"the left","by":3}' });
    expect(codec.encode({ type: 'Stopped' })).to.deep.equal({ type: 'Stopped', data: '{}' });
  });

  it('leaves out a member that is undefined', () => {
    const event = { type: 'Moved', to: '', by: undefined } as unknown as Event;
    expect(codec.encode(event).data).to.equal('{"to":""}');
    expect(codec.decode({ type: 'Moved', data: '{"to":""}' })).to.deep.equal({ type: 'Moved', to: '' });
  });

  it('reads every event that it writes', () => {
    const anyEvent: fc.Arbitrary<Event> = fc.oneof(
      fc.record(
        { type: fc.constant('Moved'), to: fc.string({ unit: 'binary' }), by: fc.maxSafeInteger() },
        { requiredKeys: ['type', 'to'], noNullPrototype: true },
      ),
      fc.constant({ type: 'Stopped' }),
    );
    fc.assert(
      fc.property(anyEvent, (event) => {
        const decoded = codec.decode(codec.encode(event));
        expect(decoded).to.deep.equal(event);
      }),
    );
  });

  const wrong: Readonly<Record<string, unknown>> = {
    'a member that is missing': { type: 'Moved' },
    'a member that breaks its check': { type: 'Moved', to: 'here', by: 0.5 },
    'an unknown type': { type: 'Jumped' },
    'a type named as a method of objects': { type: 'constructor' },
  };
  for (const [what, event] of Object.entries(wrong)) {
    it(`writes no event with ${what}`, () => {
      expect(() => codec.encode(event as Event)).to.throw(TypeError);
    });
  }

  const foreign: readonly (readonly [type: string, data: string])[] = [
    ['Moved', ''],
    ['Moved', 'null'],
    ['Moved', '"to"'],
    ['Moved', '{"to":7}'],
    ['Moved', '{"to":"here","by":"3"}'],
    ['Moved', '{"to": "here"}'],
    ['Moved', '{"by":3,"to":"here"}'],
    ['Moved', '{"to":"there","to":"here"}'],
    ['Moved', '{"to":"here","more":1}'],
    ['Moved', '{"to":"here","by":3.0}'],
    ['Stopped', ''],
    ['Stopped', '[]'],
    ['Stopped', 'null'],
    ['Jumped', '{}'],
    ['toString', '{}'],
  ];
  for (const [type, data] of foreign) {
    it(`does not read what it does not write: ${type} ${data}`, () => {
      expect(codec.decode({ type, data })).to.equal(undefined);
    });
  }
});
