import { expect } from 'chai';
import { AnyOf } from '../../../src/adapters/auth/any-of';
import { StaticTokens } from '../../../src/adapters/auth/static-tokens';
import {
  type Authenticator,
  AuthenticationUnavailable,
  type TokenFault,
  parseUser,
} from '../../../src/application';
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

  it('authenticates the tokens of each of them', async () => {
    const any = new AnyOf([first, second]);
    expect(await any.authenticate('a1')).to.equal('alice');
    expect(await any.authenticate('b1')).to.equal('bob');
  });

  it('passes on why a token is invalid', async () => {
    const faults: TokenFault[] = [];
    const jwt: Authenticator = {
      authenticate: (_, rejected) => {
        rejected?.('expired');
        return undefined;
      },
    };
    await new AnyOf([first, jwt]).authenticate('c1', (fault) => faults.push(fault));
    expect(faults).to.deep.equal(['expired']);
  });

  it('does not authenticate a token that none of them knows', async () => {
    expect(await new AnyOf([first, second]).authenticate('c1')).to.be.undefined;
    expect(await new AnyOf([]).authenticate('a1')).to.be.undefined;
  });

  it('uses the first one that knows a token', async () => {
    expect(await new AnyOf([first, second]).authenticate('both')).to.equal('alice');
    expect(await new AnyOf([second, first]).authenticate('both')).to.equal('bob');
  });

  it('does not need an unavailable one if an earlier one knows the token', async () => {
    expect(await new AnyOf([first, away]).authenticate('a1')).to.equal('alice');
  });

  it('is unavailable if one of them is, instead of rejecting a token that may be valid', async () => {
    expect(await rejection(new AnyOf([first, away]).authenticate('b1'))).to.be.instanceOf(
      AuthenticationUnavailable,
    );
  });
});
