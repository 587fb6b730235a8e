import { setTimeout as pause } from 'node:timers/promises';
import fs, { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { TokenFile } from '../../../src/adapters/auth/token-file';
import { BrokenTokenFile } from '../../../src/adapters/auth/token-file-format';
import { ManualClock, untilIdle } from '../../support/manual-clock';
import { temporaryDirectory } from '../../support/temporary-directory';
import { tokenFileOf } from '../../support/token-file';
import { until } from '../../support/until';

const LOOK_MS = 250;

describe('A token file in use', () => {
  const path = temporaryDirectory();
  let clock: ManualClock;
  let notifications: string[];
  let file: TokenFile;

  beforeEach(() => {
    clock = new ManualClock();
    notifications = [];
  });
  afterEach(() => file.close());

  function write(content: string, name = 'tokens.json'): void {
    writeFileSync(path(name), content, { mode: 0o600 });
  }

  function open(name = 'tokens.json'): TokenFile {
    file = TokenFile.open(path(name), clock, {
      read: ({ tokens }) => notifications.push(`read ${tokens}`),
      broken: (problem) => notifications.push(`broken: ${problem}`),
      exposed: () => notifications.push('exposed'),
    });
    return file;
  }

  /** Waits for one poll. */
  async function look(): Promise<void> {
    await clock.pass(LOOK_MS);
    await until(() => clock.waiting > 0);
  }

  it('rejects a removed token as soon as it is read again', async () => {
    write(tokenFileOf({ alice: ['a1', 'a2'] }));
    open();
    file.authenticate('a1');
    write(tokenFileOf({ alice: ['a2'] }));
    file.reload();
    expect(file.authenticate('a1')).to.be.undefined;
    expect(file.authenticate('a2')).to.equal('alice');
  });

  it('is read again when it is written to', async () => {
    write(tokenFileOf({ alice: ['a1'] }));
    open();
    // The timestamps of files have a resolution of a few milliseconds.
    await pause(20);
    write(tokenFileOf({ carol: ['c1'] }));
    await look();
    expect(file.authenticate('a1')).to.be.undefined;
    expect(file.authenticate('c1')).to.equal('carol');
  });

  it('is read again after every replacement', async () => {
    write(tokenFileOf({ alice: ['a1'] }));
    open();
    for (const token of ['a2', 'a3', 'a4']) {
      write(tokenFileOf({ alice: [token] }), 'next.json');
      renameSync(path('next.json'), path('tokens.json'));
      await look();
      expect(file.authenticate(token)).to.equal('alice');
    }
  });

  it('is read again when a symbolic link in its path changes, as for mounted secrets', async () => {
    for (const [version, token] of [
      ['v1', 'a1'],
      ['v2', 'a2'],
    ] as const) {
      mkdirSync(path(version));
      write(tokenFileOf({ alice: [token] }), `${version}/tokens.json`);
    }
    symlinkSync('v1', path('data'));
    symlinkSync('data/tokens.json', path('tokens.json'));
    open();
    symlinkSync('v2', path('data.next'));
    renameSync(path('data.next'), path('data'));
    await look();
    expect(file.authenticate('a1')).to.be.undefined;
    expect(file.authenticate('a2')).to.equal('alice');
  });

  it('is not read again while nothing changes', async () => {
    write(tokenFileOf({ alice: ['a1'] }));
    open();
    for (let i = 0; i < 5; i++) await look();
    expect(notifications).to.deep.equal(['read 1']);
  });

  it('is polled no more after a close, or if it is closed during a poll', async () => {
    write(tokenFileOf({ alice: ['a1'] }));
    open().close();
    expect(clock.waiting).to.equal(0);

    open();
    const { stat } = fs.promises;
    const polling = new Promise((resolve) => {
      const closeAndStat = async (...args: Parameters<typeof stat>) => {
        file.close();
        const found = stat(...args);
        resolve(found);
        return found;
      };
      fs.promises.stat = closeAndStat as typeof stat;
    });
    await clock.pass(LOOK_MS);
    await polling;
    fs.promises.stat = stat;
    await untilIdle();
    expect(clock.waiting).to.equal(0);
  });

  for (const [what, spoil, problem] of [
    ['is broken', () => write('{'), 'the file must be JSON in UTF-8'],
    ['is gone', () => rmSync(path('tokens.json')), 'it cannot be read (ENOENT)'],
  ] as const) {
    it(`keeps its earlier tokens when it ${what}, reports it once, and recovers`, async () => {
      write(tokenFileOf({ alice: ['a1'] }));
      open();
      spoil();
      await look();
      expect(notifications).to.deep.equal(['read 1', `broken: ${problem}`]);
      expect(file.authenticate('a1')).to.equal('alice');
      await look();
      expect(notifications).to.have.length(2);

      write(tokenFileOf({ bob: ['b1', 'b2'] }));
      await look();
      expect(notifications[2]).to.equal('read 2');
      expect(file.authenticate('a1')).to.be.undefined;
    });
  }

  describe('that cannot be read for a while', () => {
    const { readFileSync } = fs;
    let reads = 0;

    /** Makes each read fail, as without free file descriptors. */
    function failReads(): void {
      reads = 0;
      fs.readFileSync = () => {
        reads++;
        throw Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' });
      };
    }
    const allowReads = () => void (fs.readFileSync = readFileSync);
    afterEach(allowReads);

    it('is read as soon as possible, and a token revoked meanwhile is rejected', async () => {
      write(tokenFileOf({ alice: ['a1'] }));
      open();
      write(tokenFileOf({ bob: ['b1', 'b2'] }));
      failReads();
      for (let i = 0; i < 3; i++) await look();
      expect(reads).to.equal(3);
      expect(notifications).to.deep.equal(['read 1', 'broken: it cannot be read (EMFILE)']);
      expect(file.authenticate('a1')).to.equal('alice');

      allowReads();
      await look();
      expect(file.authenticate('a1')).to.be.undefined;
      expect(file.authenticate('b1')).to.equal('bob');
      await look();
      expect(notifications.slice(2)).to.deep.equal(['read 2']);
    });

    it('is read again after a failed reload, which reports the failure each time', async () => {
      write(tokenFileOf({ alice: ['a1'] }));
      open();
      failReads();
      file.reload();
      file.reload();
      expect(notifications).to.deep.equal(['read 1', ...Array(2).fill('broken: it cannot be read (EMFILE)')]);

      allowReads();
      await look();
      expect(notifications[3]).to.equal('read 1');
    });

    it('reports a failure again after a successful read in between', async () => {
      write(tokenFileOf({ alice: ['a1'] }));
      open();
      for (let i = 0; i < 2; i++) {
        failReads();
        write(tokenFileOf({ alice: ['a1'], bob: Array.from({ length: i + 1 }, (_, n) => `b${i}${n}`) }));
        await look();
        allowReads();
        await look();
      }
      const failure = 'broken: it cannot be read (EMFILE)';
      expect(notifications).to.deep.equal(['read 1', failure, 'read 2', failure, 'read 3']);
    });
  });

  it('cannot be opened if it is invalid, missing, or not a file', () => {
    write('{');
    expect(() => open()).to.throw(BrokenTokenFile, 'JSON');
    expect(() => open('none.json')).to.throw(BrokenTokenFile, 'ENOENT');
    mkdirSync(path('directory'));
    expect(() => open('directory')).to.throw(BrokenTokenFile, 'regular file');
    write(tokenFileOf({}));
    open();
  });

  for (const [mode, warned] of [
    [0o600, false],
    [0o640, false],
    [0o644, true],
    [0o660, true],
    [0o602, true],
  ] as const) {
    it(`${warned ? 'warns' : 'does not warn'} about mode ${mode.toString(8)}`, function () {
      if (process.platform === 'win32') this.skip();
      write(tokenFileOf({}));
      chmodSync(path('tokens.json'), mode);
      open();
      expect(notifications.includes('exposed')).to.equal(warned);
    });
  }
});
