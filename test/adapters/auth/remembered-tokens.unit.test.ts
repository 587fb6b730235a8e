import { expect } from 'chai';
import { RememberedTokens } from '../../../src/adapters/auth/remembered-tokens';
import { parseUser } from '../../../src/application';

const alice = parseUser('alice')!;

describe('Remembered tokens', () => {
  const good = (until = 1000) => ({ user: alice, until });

  it('are recalled until the moment they expire', () => {
    const tokens = new RememberedTokens(10);
    tokens.remember('t', good(1000), 0);
    expect(tokens.recall('t', 999, 0)).to.equal('alice');
    expect(tokens.recall('t', 1000, 0)).to.be.undefined;
  });

  it('are those that were remembered, and no others', () => {
    const tokens = new RememberedTokens(10);
    tokens.remember('t', good(), 0);
    expect(tokens.recall('u', 0, 0)).to.be.undefined;
  });

  it('are never more than the limit: the one unused for longest is forgotten', () => {
    const tokens = new RememberedTokens(2);
    tokens.remember('a', good(), 0);
    tokens.remember('b', good(), 0);
    tokens.recall('a', 0, 0);
    tokens.remember('c', good(), 0);
    expect(['a', 'b', 'c'].filter((token) => tokens.recall(token, 0, 0))).to.deep.equal(['a', 'c']);
  });

  it('count once, however often they are remembered', () => {
    const tokens = new RememberedTokens(2);
    tokens.remember('a', good(), 0);
    for (let i = 0; i < 5; i++) tokens.remember('b', good(), 0);
    expect(tokens.recall('a', 0, 0)).to.equal('alice');
  });

  it('are all forgotten when the keys change', () => {
    const tokens = new RememberedTokens(10);
    tokens.remember('t', good(), 0);
    expect(tokens.recall('t', 0, 1)).to.be.undefined;
  });

  it('do not come back from a verification that began before the keys changed', () => {
    const tokens = new RememberedTokens(10);
    tokens.recall('other', 0, 1);
    tokens.remember('t', good(), 0);
    expect(tokens.recall('t', 0, 1)).to.be.undefined;
  });
});
