/** The command line with the adapters of the service, in this process. */
import { EventEmitter } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { Writable } from 'node:stream';
import { expect } from 'chai';
import { MemoryEventStore } from '../../src/adapters/memory';
import type { OpenEventStore } from '../../src/event-sourcing';
import { runCommandLine } from '../../src/service/command-line';
import { alwaysAvailable } from '../../src/service/events';
import { MemorySnapshots } from '../support/memory-snapshots';
import { temporaryDirectory } from '../support/temporary-directory';
import { until } from '../support/until';

class TextStream extends Writable {
  text = '';

  override _write(bytes: Buffer, _: string, written: () => void): void {
    this.text += bytes.toString();
    written();
  }
}

type Environment = Readonly<Record<string, string>>;

/** Starts `plant-store` with these words and environment variables. */
function start(words: string, env: Environment) {
  const [stdout, stderr] = [new TextStream(), new TextStream()];
  const argv = ['node', 'plant-store', ...words.split(' ')];
  const process = Object.assign(new EventEmitter(), { argv, env, stdout, stderr });
  const code = runCommandLine(process as unknown as NodeJS.Process);
  return { process, code };
}

async function run(words: string, env: Environment = {}) {
  const { process, code } = start(words, env);
  return { code: await code, out: process.stdout.text, error: process.stderr.text };
}

describe('The command line of the service', () => {
  const path = temporaryDirectory();

  it('creates a token in the file', async () => {
    const { code, out } = await run(`token new --user alice --file ${path('tokens.json')}`);
    expect(code).to.equal(0);
    expect(out).to.match(/^plants_[\w-]{43}\n$/);
    expect(readFileSync(path('tokens.json'), 'utf8'))
      .to.include('alice')
      .and.not.to.include(out.trim());
  });

  it('says why no token was made, and that the file is as it was', async () => {
    writeFileSync(path('tokens.json'), '{');
    const refused = (file: string) => run(`token new --user alice --file ${file}`);
    expect((await refused(path('tokens.json'))).error).to.match(
      /^plant-store: no token was made, \S+tokens\.json is as it was: .*JSON/,
    );
    expect((await refused(path('busy.json'))).code).to.equal(0);
    writeFileSync(path('busy.json.new'), '');
    expect((await refused(path('busy.json'))).error).to.match(
      /busy\.json is as it was: \S+ .*busy\.json\.new/,
    );
    const missing = await refused(path('no\u0007folder/tokens.json'));
    expect(missing).to.include({ code: 1, out: '' });
    expect(missing.error).to.include('no\\u0007folder').and.include('it cannot be written (ENOENT)');
  });

  it('needs a store that outlives the command, and Redis for what is about Redis', async () => {
    expect(await run('list --user alice')).to.deep.equal({
      code: 2,
      out: '',
      error:
        'plant-store: EVENT_STORE is memory, which is empty at the start of this command and lost at its end.\n' +
        '  → set EVENT_STORE=redis and REDIS_URL, or EVENT_STORE=./your-store.js, to the store that your services use\n',
    });
    expect(await run('events key --user alice')).to.deep.equal({
      code: 2,
      out: '',
      error: 'plant-store: this command is about a store in Redis: set EVENT_STORE=redis and REDIS_URL\n',
    });
  });

  it('prints what the store reports: warnings, but only errors with LOG_LEVEL=error', async () => {
    const redis = { EVENT_STORE: 'redis', REDIS_URL: 'redis://127.0.0.1:1' };
    const reported = 'Redis cannot be reached: connect ECONNREFUSED 127.0.0.1:1\n';
    const failed = 'plant-store: the event store is unavailable: Redis cannot be reached\n';
    for (const [LOG_LEVEL, error] of [
      ['info', reported + failed],
      ['error', failed],
      ['fatal', failed],
      ['silent', failed],
    ] as const)
      expect(await run('list --user alice', { ...redis, LOG_LEVEL })).to.deep.equal({
        code: 3,
        out: '',
        error,
      });
  });

  it('names the rule that the module of EVENT_STORE breaks', async () => {
    writeFileSync(path('empty.cjs'), '');
    const { code, error } = await run('list --user alice', { EVENT_STORE: path('empty.cjs') });
    expect(code).to.equal(2);
    expect(error)
      .to.include(path('empty.cjs'))
      .and.not.to.match(/\n +at /);
  });

  describe('with a store of a module', () => {
    /** The variables that name a module with this store. */
    function storedIn(opened: Partial<OpenEventStore>): Environment {
      Object.assign(globalThis, { openedInTest: opened });
      writeFileSync(path('store.cjs'), 'exports.openEventStore = () => globalThis.openedInTest;');
      return { EVENT_STORE: path('store.cjs') };
    }
    const create = (id: number) => `create --user alice --id ${id} --name Fern-${id}`;

    it('loads snapshots, unless they are turned off, and saves none', async () => {
      const snapshots = new MemorySnapshots();
      // A short history is read without its snapshot.
      const environment = storedIn({ ...alwaysAvailable(new MemoryEventStore(1)), snapshots });
      const list = (SNAPSHOT_EVERY: string) => run('list --user alice', { ...environment, SNAPSHOT_EVERY });
      for (const id of [1, 2, 3]) await run(create(id), { ...environment, SNAPSHOT_EVERY: '0' });
      expect((await list('0')).out).to.equal('Fern-1\nFern-2\nFern-3\n');
      expect(snapshots.calls).to.deep.equal([]);
      expect((await list('1')).out).to.equal('Fern-1\nFern-2\nFern-3\n');
      expect(snapshots.calls).to.deep.equal(['load plants/alice']);
    });

    it('follows the events of all users until it is interrupted', async () => {
      const store = new MemoryEventStore();
      const environment = storedIn({ ...alwaysAvailable(store), catalogue: store, feed: store.feed });
      const tail = start('events tail', environment);
      let id = 0;
      // It begins with the events that are recorded after its start.
      await until(async () => {
        await run(create(++id), environment);
        return tail.process.stdout.text.includes('Fern');
      });
      tail.process.emit('SIGTERM');
      expect(await tail.code).to.equal(0);
      expect(tail.process.stdout.text).to.match(/^plants\/alice\t\d+\t\S+\tPlantCreated\t\d+\tFern-\d+\n/);
    });
  });
});
