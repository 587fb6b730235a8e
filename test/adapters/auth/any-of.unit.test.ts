import { expect } from 'chai';
import { AnyOf } from '../../../src/adapters/auth/any-of';
import { StaticTokens } from '../../../src/adapters/auth/static-tokens';
import { type Authenticator, AuthenticationUnavailable, parseUser } from '../../../src/application';
import { rejection } from '../../support/rejection';

const alice = parseUser('alice')!;
const bob = parseUser('bob')!;
const away: Authenticator = { authenticate: () => Promise.reject(new AuthenticationUnavailable('away')) };

describe('AnyOf, several authenticators combined,', () => {
  const first = new StaticTokens([
    ['a1', alice],
    ['both', alice],
  ]);
  const second = new StaticTokens([
    ['b1', bob],
    ['both', bob],
  ]);

  it('uses the first one that knows a token', async () => {
    expect(await new AnyOf([first, second]).authenticate('both')).to.equal('alice');
    expect(await new AnyOf([second, first]).authenticate('both')).to.equal('bob');
  });

  it('is unavailable if one of them is, instead of rejecting a token that may be valid', async () => {
    expect(await rejection(new AnyOf([first, away]).authenticate('b1'))).to.be.instanceOf(
      AuthenticationUnavailable,
    );
  });
});
