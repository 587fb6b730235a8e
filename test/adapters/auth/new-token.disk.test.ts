import {
  chmodSync,
  chownSync,
  lstatSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { expect } from 'chai';
import { TokenFileBusy, addToken, mintToken } from '../../../src/adapters/auth/new-token';
import { readTokens } from '../../../src/adapters/auth/token-file';
import { BrokenTokenFile } from '../../../src/adapters/auth/token-file-format';
import { tokenDigest } from '../../../src/adapters/auth/token-digest';
import { parseUser } from '../../../src/application';
import { rejection } from '../../support/rejection';
import { temporaryDirectory } from '../../support/temporary-directory';

const alice = parseUser('alice')!;
const bob = parseUser('bob')!;
const NOBODY = 65_534;

describe('A new token', () => {
  const path = temporaryDirectory();
  const file = () => path('tokens.json');
  const whose = (token: string) => readTokens(file()).get(tokenDigest(token));

  it('has 256 random bits, and may be sent as a bearer token as it is', () => {
    const token = mintToken();
    expect(token).to.match(/^plants_[A-Za-z0-9_-]+$/);
    expect(Buffer.from(token.slice('plants_'.length), 'base64url')).to.have.length(32);
    expect(mintToken()).not.to.equal(token);
  });

  it('speaks for its user from now on, beside those of before', async () => {
    const first = await addToken(file(), { user: alice });
    const other = await addToken(file(), { user: bob });
    const second = await addToken(file(), { user: alice });
    expect([first, other, second].map(whose)).to.deep.equal(['alice', 'bob', 'alice']);
  });

  it('is not in the file, only its hash and what it is for', async () => {
    const token = await addToken(file(), { user: alice, note: 'laptop' });
    expect(JSON.parse(readFileSync(file(), 'utf8'))).to.deep.equal({
      users: [{ name: 'alice', tokens: [{ sha256: tokenDigest(token), note: 'laptop' }] }],
    });
  });

  it('leaves a file that only its owner may read, whatever it was before, and nothing beside it', async () => {
    await addToken(file(), { user: alice });
    expect(statSync(file()).mode & 0o777).to.equal(0o600);
    chmodSync(file(), 0o666);
    await addToken(file(), { user: alice });
    expect(statSync(file()).mode & 0o777).to.equal(0o600);
    expect(readdirSync(dirname(file()))).to.deep.equal(['tokens.json']);
  });

  it('leaves a file that its group may read to that group', async () => {
    await addToken(file(), { user: alice });
    for (const mode of [0o640, 0o440, 0o600, 0o400]) {
      chmodSync(file(), mode);
      await addToken(file(), { user: alice });
      expect(statSync(file()).mode & 0o777).to.equal(mode | 0o600);
    }
    for (const exposed of [0o644, 0o660, 0o620, 0o750]) {
      chmodSync(file(), exposed);
      await addToken(file(), { user: alice });
      expect(statSync(file()).mode & 0o777).to.equal(0o600);
    }
  });

  it('is told also where the directory cannot be read, for then it is in the file', async () => {
    const isRoot = process.getuid!() === 0;
    if (isRoot) chownSync(dirname(file()), NOBODY, NOBODY);
    chmodSync(dirname(file()), 0o300);
    if (isRoot) process.seteuid!(NOBODY);
    try {
      expect(whose(await addToken(file(), { user: alice }))).to.equal('alice');
    } finally {
      if (isRoot) process.seteuid!(0);
      chmodSync(dirname(file()), 0o700);
    }
  });

  it('never lets a reader see a part of the file', async () => {
    await addToken(file(), { user: alice, note: 'n'.repeat(500_000) });
    const reading = new AbortController();
    let seen = 0;
    const reader = (async () => {
      for (; !reading.signal.aborted; seen++) {
        readTokens(file());
        await new Promise(setImmediate);
      }
    })();
    for (let i = 0; i < 10 || seen < 10; i++) await addToken(file(), { user: bob });
    reading.abort();
    await reader;
  });

  it('is refused to whoever asks while another is being made, and none that was given is lost', async () => {
    const asked = await Promise.allSettled(
      Array.from({ length: 8 }, () => addToken(file(), { user: alice })),
    );
    const made = asked.filter((one) => one.status === 'fulfilled').map(({ value }) => value);
    const refused = asked.filter((one) => one.status === 'rejected').map(({ reason }) => reason as Error);
    expect(made).not.to.be.empty;
    expect(made.map(whose)).to.deep.equal(made.map(() => 'alice'));
    for (const reason of refused) expect(reason).to.be.instanceOf(TokenFileBusy);
  });

  it('is refused while a draft lies there, by saying which to delete', async () => {
    await addToken(file(), { user: alice });
    const before = readFileSync(file());
    writeFileSync(`${file()}.new`, 'half');
    expect(await rejection(addToken(file(), { user: alice })))
      .to.be.instanceOf(TokenFileBusy)
      .with.property('message')
      .that.includes(`delete ${file()}.new`);
    expect(readFileSync(file())).to.deep.equal(before);
    expect(readFileSync(`${file()}.new`, 'utf8')).to.equal('half');
  });

  it('is refused where the file is not in order, which stays as it was', async () => {
    const twice = { name: 'alice', tokens: [] };
    for (const content of ['{"users": [{"name": "alice"}]}', JSON.stringify({ users: [twice, twice] })]) {
      writeFileSync(file(), content);
      expect(await rejection(addToken(file(), { user: alice }))).to.be.instanceOf(BrokenTokenFile);
      expect(readFileSync(file(), 'utf8')).to.equal(content);
      expect(readdirSync(dirname(file()))).to.deep.equal(['tokens.json']);
    }
  });

  it('goes to where a symbolic link points, and leaves the link', async () => {
    writeFileSync(path('real.json'), '{"users": []}');
    symlinkSync('real.json', file());
    const token = await addToken(file(), { user: alice });
    expect(lstatSync(file()).isSymbolicLink()).to.equal(true);
    expect(whose(token)).to.equal('alice');
  });
});
