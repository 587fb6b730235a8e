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
const NOBODY_UID = 65_534;

describe('A new token', () => {
  const path = temporaryDirectory();
  const file = () => path('tokens.json');
  const whose = (token: string) => readTokens(file()).get(tokenDigest(token));

  it('has 256 random bits, and is a valid bearer token', () => {
    const token = mintToken();
    expect(token).to.match(/^plants_[A-Za-z0-9_-]+$/);
    expect(Buffer.from(token.slice('plants_'.length), 'base64url')).to.have.length(32);
    expect(mintToken()).not.to.equal(token);
  });

  it('authenticates its user, as do the earlier tokens', async () => {
    const first = await addToken(file(), { user: alice });
    const other = await addToken(file(), { user: bob });
    const second = await addToken(file(), { user: alice });
    expect([first, other, second].map(whose)).to.deep.equal(['alice', 'bob', 'alice']);
  });

  it('is not in the file, only its digest and note', async () => {
    const token = await addToken(file(), { user: alice, note: 'laptop' });
    expect(JSON.parse(readFileSync(file(), 'utf8'))).to.deep.equal({
      users: [{ name: 'alice', tokens: [{ sha256: tokenDigest(token), note: 'laptop' }] }],
    });
  });

  it('leaves the notes of the others', async () => {
    await addToken(file(), { user: alice, note: 'laptop' });
    await addToken(file(), { user: bob });
    expect(readFileSync(file(), 'utf8')).to.contain('laptop');
  });

  it('is refused if the directory is missing', async () => {
    const problem = await rejection(addToken(path('missing/tokens.json'), { user: alice }));
    expect(problem).to.have.property('code', 'ENOENT');
  });

  it('leaves the file to its owner if root creates it', async function () {
    if (process.getuid!() !== 0) return this.skip();
    await addToken(file(), { user: alice });
    chownSync(file(), NOBODY_UID, NOBODY_UID);
    await addToken(file(), { user: alice });
    expect(statSync(file())).to.include({ uid: NOBODY_UID, gid: NOBODY_UID });
  });

  it('leaves a file that only its owner may read, and no other file', async () => {
    await addToken(file(), { user: alice });
    expect(statSync(file()).mode & 0o777).to.equal(0o600);
    chmodSync(file(), 0o666);
    await addToken(file(), { user: alice });
    expect(statSync(file()).mode & 0o777).to.equal(0o600);
    expect(readdirSync(dirname(file()))).to.deep.equal(['tokens.json']);
  });

  it('leaves a file readable by its group', async () => {
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

  it('is returned even if the directory cannot be synced', async () => {
    const isRoot = process.getuid!() === 0;
    if (isRoot) chownSync(dirname(file()), NOBODY_UID, NOBODY_UID);
    chmodSync(dirname(file()), 0o300);
    if (isRoot) process.seteuid!(NOBODY_UID);
    try {
      expect(whose(await addToken(file(), { user: alice }))).to.equal('alice');
    } finally {
      if (isRoot) process.seteuid!(0);
      chmodSync(dirname(file()), 0o700);
    }
  });

  it('replaces the file atomically', async () => {
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

  it('is refused while another one is being created, and no returned token is lost', async () => {
    const asked = await Promise.allSettled(
      Array.from({ length: 8 }, () => addToken(file(), { user: alice })),
    );
    const made = asked.filter((one) => one.status === 'fulfilled').map(({ value }) => value);
    const refused = asked.filter((one) => one.status === 'rejected').map(({ reason }) => reason as Error);
    expect(made).not.to.be.empty;
    expect(made.map(whose)).to.deep.equal(made.map(() => 'alice'));
    for (const reason of refused) expect(reason).to.be.instanceOf(TokenFileBusy);
  });

  it('is refused while a draft exists, and names the file to delete', async () => {
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

  it('is refused if the file is invalid, and leaves it unchanged', async () => {
    const twice = { name: 'alice', tokens: [] };
    for (const content of ['{"users": [{"name": "alice"}]}', JSON.stringify({ users: [twice, twice] })]) {
      writeFileSync(file(), content);
      expect(await rejection(addToken(file(), { user: alice }))).to.be.instanceOf(BrokenTokenFile);
      expect(readFileSync(file(), 'utf8')).to.equal(content);
      expect(readdirSync(dirname(file()))).to.deep.equal(['tokens.json']);
    }
  });

  it('is added to the target of a symbolic link', async () => {
    writeFileSync(path('real.json'), '{"users": []}');
    symlinkSync('real.json', file());
    const token = await addToken(file(), { user: alice });
    expect(lstatSync(file()).isSymbolicLink()).to.equal(true);
    expect(whose(token)).to.equal('alice');
  });
});
