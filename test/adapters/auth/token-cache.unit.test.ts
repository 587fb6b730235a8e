import { expect } from 'chai';
import { TokenCache } from '../../../src/adapters/auth/token-cache';
import { parseUser } from '../../../src/application';

const alice = parseUser('alice')!;

describe('The token cache', () => {
  const good = (until = 1000) => ({ user: alice, until });

  it('returns a token until it expires', () => {
    const tokens = new TokenCache(10);
    tokens.set('t', good(1000), 0);
    expect(tokens.get('t', 999, 0)).to.equal('alice');
    expect(tokens.get('t', 1000, 0)).to.be.undefined;
  });

  it('returns only tokens that were added', () => {
    const tokens = new TokenCache(10);
    tokens.set('t', good(), 0);
    expect(tokens.get('u', 0, 0)).to.be.undefined;
  });

  it('evicts the least recently used token beyond its limit', () => {
    const tokens = new TokenCache(2);
    tokens.set('a', good(), 0);
    tokens.set('b', good(), 0);
    tokens.get('a', 0, 0);
    tokens.set('c', good(), 0);
    expect(['a', 'b', 'c'].filter((token) => tokens.get(token, 0, 0))).to.deep.equal(['a', 'c']);
  });

  it('counts a token once that is added repeatedly', () => {
    const tokens = new TokenCache(2);
    tokens.set('a', good(), 0);
    for (let i = 0; i < 5; i++) tokens.set('b', good(), 0);
    expect(tokens.get('a', 0, 0)).to.equal('alice');
  });

  it('is cleared when the keys change', () => {
    const tokens = new TokenCache(10);
    tokens.set('t', good(), 0);
    expect(tokens.get('t', 0, 1)).to.be.undefined;
  });

  it('ignores a verification that started before the keys changed', () => {
    const tokens = new TokenCache(10);
    tokens.get('other', 0, 1);
    tokens.set('t', good(), 0);
    expect(tokens.get('t', 0, 1)).to.be.undefined;
  });
});
