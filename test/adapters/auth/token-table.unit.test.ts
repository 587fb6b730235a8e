import { expect } from 'chai';
import { tokenDigest } from '../../../src/adapters/auth/token-digest';
import { MAX_REMEMBERED, TokenTable } from '../../../src/adapters/auth/token-table';
import { parseUser } from '../../../src/application';
import { heapAfterGc } from '../../support/heap';

const ALICE = parseUser('alice')!;

function tableOf(...tokens: readonly string[]): TokenTable {
  return new TokenTable(new Map(tokens.map((token) => [tokenDigest(token), ALICE])));
}

describe('A table of tokens', () => {
  it('finds the user of a valid token, the first time and again', () => {
    const table = tableOf('one', 'two');
    for (let time = 0; time < 2; time++) {
      expect(table.userOf('one')).to.equal(ALICE);
      expect(table.userOf('two')).to.equal(ALICE);
      expect(table.userOf('three')).to.equal(undefined);
    }
  });

  it('remembers valid tokens only', () => {
    const table = tableOf('one');
    for (const token of ['one', 'ONE', 'one ', '', tokenDigest('one'), '__proto__']) table.userOf(token);
    expect(table.remembered).to.equal(1);
    expect(table.userOf(tokenDigest('one')), 'a digest is no token').to.equal(undefined);
  });

  it('remembers a bounded number of tokens, and finds all', () => {
    const tokens = Array.from({ length: MAX_REMEMBERED + 10 }, (_, index) => `token ${index}`);
    const table = tableOf(...tokens);
    for (let time = 0; time < 2; time++)
      for (const token of tokens) expect(table.userOf(token)).to.equal(ALICE);
    expect(table.remembered).to.equal(MAX_REMEMBERED);
    expect(table.size).to.equal(tokens.length);
  });

  it('keeps nothing of the header field of a token that it remembers', () => {
    const tokens = Array.from({ length: MAX_REMEMBERED }, (_, index) => `a token with the number ${index}`);
    const table = tableOf(...tokens);
    const before = heapAfterGc();
    for (const token of tokens) {
      // A text of its own for each token, of which the token is a slice.
      const field = Buffer.from(`Bearer ${' '.repeat(15_000)}${token}`).toString();
      expect(table.userOf(field.slice(-token.length))).to.equal(ALICE);
    }
    expect(heapAfterGc() - before).to.be.below(2_000_000);
    expect(table.remembered).to.equal(MAX_REMEMBERED);
  });
});
