import { expect } from 'chai';
import { tokenDigest } from '../../../src/adapters/auth/token-digest';
import { MAX_REMEMBERED, TokenTable } from '../../../src/adapters/auth/token-table';
import { parseUser } from '../../../src/application';

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
});
