import { expect } from 'chai';
import { AnyOf } from '../../../src/adapters/auth/any-of';
import { StaticTokens } from '../../../src/adapters/auth/static-tokens';
import { type Authenticator, AuthenticationUnavailable, parseUser } from '../../../src/application';
import { rejection } from '../../support/rejection';

const alice = parseUser('alice')!;
const bob = parseUser('bob')!;
const away: Authenticator = { authenticate: () => Promise.reject(new AuthenticationUnavailable('away')) };

describe('Several sources of tokens as one', () => {
  const first = new StaticTokens([
    ['a1', alice],
    ['both', alice],
  ]);
  const second = new StaticTokens([
    ['b1', bob],
    ['both', bob],
  ]);

  it('know what any of them knows', async () => {
    const any = new AnyOf([first, second]);
    expect(await any.authenticate('a1')).to.equal('alice');
    expect(await any.authenticate('b1')).to.equal('bob');
  });

  it('know nobody by a token that none of them knows', async () => {
    expect(await new AnyOf([first, second]).authenticate('c1')).to.be.undefined;
    expect(await new AnyOf([]).authenticate('a1')).to.be.undefined;
  });

  it('believe the first that knows a token', async () => {
    expect(await new AnyOf([first, second]).authenticate('both')).to.equal('alice');
    expect(await new AnyOf([second, first]).authenticate('both')).to.equal('bob');
  });

  it('need not hear one that cannot tell, where one before it can', async () => {
    expect(await new AnyOf([first, away]).authenticate('a1')).to.equal('alice');
  });

  it('cannot tell where one of them cannot, rather than to refuse what may be good', async () => {
    expect(await rejection(new AnyOf([first, away]).authenticate('b1'))).to.be.instanceOf(
      AuthenticationUnavailable,
    );
  });
});
