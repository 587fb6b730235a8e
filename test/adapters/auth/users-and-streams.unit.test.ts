import { expect } from 'chai';
import fc from 'fast-check';
import { streamKey } from '../../../src/adapters/redis/stream-key';
import { parseUser } from '../../../src/application';
import { RUNS } from '../../domain/arbitraries';
import { anyUser } from './any-user';

describe('The streams of users', () => {
  it('are two for two users, however alike their names', () => {
    fc.assert(
      fc.property(fc.uniqueArray(anyUser, { minLength: 2, maxLength: 20 }), (users) => {
        const keys = users.map((user) => streamKey('plant-store', user));
        expect(new Set(keys).size).to.equal(users.length);
      }),
      { numRuns: RUNS },
    );
  });

  it('cannot be entered by a name that spells another’s key', () => {
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
