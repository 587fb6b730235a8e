import { expect } from 'chai';
import fc from 'fast-check';
import { streamKey } from '../../../src/adapters/redis/stream-key';
import { RUNS } from '../../domain/arbitraries';

const anyUser = fc.string({ unit: 'binary', minLength: 1, maxLength: 20 });

/** The part of a key that Redis Cluster hashes: between the first `{` and the next `}`, where that is not empty. */
function hashTag(key: string): string | undefined {
  return /^[^{]*\{([^}]+)\}/.exec(key)?.[1];
}

describe('The key of a user’s stream', () => {
  it('can be read', () => {
    expect(streamKey('plant-store', 'alice')).to.equal('plant-store:{alice}:events');
    expect(streamKey('test', 'auth0|5f7c {ö}')).to.equal('test:{auth0%7C5f7c%20%7B%C3%B6%7D}:events');
    expect(streamKey('test', 'urn:user/7')).to.equal('test:{urn%3Auser%2F7}:events');
  });

  it('is shared by no two users', () => {
    fc.assert(
      fc.property(anyUser, anyUser, (one, other) => {
        expect(streamKey('p', one) === streamKey('p', other)).to.equal(one === other);
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

  it('names its user again when it is decoded', () => {
    fc.assert(
      fc.property(anyUser, (user) => {
        const encoded = /^plant-store:\{(.*)\}:events$/.exec(streamKey('plant-store', user))?.[1];
        expect(decodeURIComponent(encoded!)).to.equal(user);
      }),
      { numRuns: RUNS },
    );
  });

  it('puts each user into a hash slot of the user’s own choice', () => {
    fc.assert(
      fc.property(anyUser, (user) => {
        expect(hashTag(streamKey('plant-store', user))).to.equal(encodeURIComponent(user));
      }),
      { numRuns: RUNS },
    );
  });

  it('is plain ASCII without blanks, so that it can be typed', () => {
    fc.assert(
      fc.property(anyUser, (user) => {
        expect(streamKey('plant-store', user)).to.match(/^[!-~]+$/);
      }),
      { numRuns: RUNS },
    );
  });
});
