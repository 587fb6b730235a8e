import { streamName } from '../../../src/testing/a-stream';
import { expect } from 'chai';
import fc from 'fast-check';
import { keysOf, streamKey, streamOfKey } from '../../../src/adapters/redis/stream-key';
import { StoreIdentity } from '../../../src/adapters/redis/store-identity';
import { RUNS } from '../../domain/arbitraries';

const anyUser = fc.string({ unit: 'binary', minLength: 1, maxLength: 20 });

/** The hash tag of a key: the part between the first `{` and the next `}`, if that is not empty. */
function hashTag(key: string): string | undefined {
  return /^[^{]*\{([^}]+)\}/.exec(key)?.[1];
}

describe('The key of a user’s stream', () => {
  it('is readable', () => {
    expect(streamKey('plant-store', streamName('alice'))).to.equal('plant-store:{alice}:events');
    expect(streamKey('test', streamName('auth0|5f7c {ö}'))).to.equal(
      'test:{auth0%7C5f7c%20%7B%C3%B6%7D}:events',
    );
    expect(streamKey('test', streamName('urn:user/7'))).to.equal('test:{urn%3Auser%2F7}:events');
  });

  it('is unique to its user', () => {
    fc.assert(
      fc.property(anyUser, anyUser, (one, other) => {
        expect(streamKey('p', streamName(one)) === streamKey('p', streamName(other))).to.equal(one === other);
      }),
      {
        numRuns: RUNS,
        examples: [
          ['%7B', '{'],
          ['a}:events', 'a'],
          ['e\u0301', '\u00e9'],
        ],
      },
    );
  });

  it('decodes to its user', () => {
    fc.assert(
      fc.property(anyUser, (user) => {
        const encoded = /^plant-store:\{(.*)\}:events$/.exec(streamKey('plant-store', streamName(user)))?.[1];
        expect(decodeURIComponent(encoded!)).to.equal(user);
      }),
      { numRuns: RUNS },
    );
  });

  it('has the user as its hash tag, as those of its snapshots', () => {
    fc.assert(
      fc.property(anyUser, (user) => {
        for (const key of keysOf('plant-store', streamName(user)))
          expect(hashTag(key)).to.equal(encodeURIComponent(user));
      }),
      { numRuns: RUNS },
    );
  });

  it('is ASCII without spaces', () => {
    fc.assert(
      fc.property(anyUser, (user) => {
        expect(streamKey('plant-store', streamName(user))).to.match(/^[!-~]+$/);
      }),
      { numRuns: RUNS },
    );
  });

  it('stands beside those of its snapshot and of its base, and their drafts', () => {
    expect(keysOf('p', streamName('ada'))).to.deep.equal([
      'p:{ada}:events',
      'p:{ada}:snapshot',
      'p:{ada}:snapshot:draft',
      'p:{ada}:base',
      'p:{ada}:base:draft',
    ]);
  });
});

describe('The key of the id of a store', () => {
  it('is ignored by versions without ids: it is that of a service with a longer prefix', () => {
    for (const prefix of ['plant-store', 'eu.1:a_b']) {
      const { key } = new StoreIdentity(prefix, undefined, () => {});
      expect(key).to.equal(streamKey(`${prefix}:store`, streamName('identity')));
      expect(streamOfKey(prefix, key)).to.equal('other');
    }
  });
});

describe('The stream of a key', () => {
  for (const [key, stream] of Object.entries({
    'p:{ada}:events': 'ada',
    'p:{a%20%7B}:events': 'a {',
    'p:{ada}:snapshot': 'other',
    'p:{ada}:snapshot:draft': 'other',
    'p:{ada}:base:draft': 'other',
    'p:eu.1-a_b:{ada}:events': 'other',
    'pq:{ada}:events': 'foreign',
    'q:{ada}:events': 'foreign',
    'p q:p:{ada}:events': 'foreign',
    'p:{ada}:events:': 'foreign',
    'p:{ada}:events:draft': 'foreign',
    'p:{ada}': 'foreign',
    ':{ada}:events': 'foreign',
    'p:{}:events': 'foreign',
    'p:{a{b}:events': 'foreign',
    'p:{%61da}:events': 'foreign',
    'p:{%zz}:events': 'foreign',
    'p:{a b}:events': 'foreign',
  })) {
    it(`is ${stream} for ${key}`, () => expect(streamOfKey('p', key)).to.equal(stream));
  }

  it('is said to have a base for the key of its base', () => {
    expect(streamOfKey('p', 'p:{ada}:base')).to.deep.equal({ baseOf: 'ada' });
  });
});
