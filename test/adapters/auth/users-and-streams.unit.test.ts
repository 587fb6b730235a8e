import { expect } from 'chai';
import fc from 'fast-check';
import { streamKey } from '../../../src/adapters/redis/stream-key';
import { parseUser } from '../../../src/application';
import { RUNS } from '../../domain/arbitraries';
import { anyUser } from './any-user';

describe('The streams of users', () => {
  it('are different for users with similar names', () => {
    fc.assert(
      fc.property(fc.uniqueArray(anyUser, { minLength: 2, maxLength: 20 }), (users) => {
        const keys = users.map((user) => streamKey('plant-store', user));
        expect(new Set(keys).size).to.equal(users.length);
      }),
      { numRuns: RUNS },
    );
  });

  it('cannot be accessed by a name that looks like the key of another user', () => {
    fc.assert(
      fc.property(anyUser, (user) => {
        const tricks = [
          streamKey('plant-store', user),
          encodeURIComponent(user),
          `${user}}:events`,
          `{${user}}`,
        ]
          .map(parseUser)
          .filter((trick) => trick !== undefined && trick !== user);
        for (const trick of tricks) {
          expect(streamKey('plant-store', trick!)).not.to.equal(streamKey('plant-store', user));
        }
      }),
      { numRuns: RUNS },
    );
  });
});
