import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect } from 'chai';
import { transpile } from '../../scripts/transpiler.cjs';
import { HttpClient } from '../support/client';
import { compiled } from '../support/compiled';
import { compiledCli } from '../support/compiled-cli';
import { type RedisServer, describeOwnRedis } from '../support/redis';
import { freePort } from '../support/redis/free-port';
import { temporaryDirectory } from '../support/temporary-directory';
import { tokenOf } from '../support/token';
import { until } from '../support/until';
import { theBlock } from './shell';

/** The rows of the table of the page: a commit, and whether it may run beside main. */
const VERSIONS = [
  ...readFileSync('docs/runbooks/upgrade.md', 'utf8').matchAll(/^\| `(\w+)`[^|]*\| (yes|no) \|/gm),
].map(([, commit, beside]) => ({ commit: commit!, beside: beside === 'yes' }));
/** For the steps between versions that store the same. */
const MAIN: (typeof VERSIONS)[number] = { commit: 'main', beside: true };

/** A folder with the service of an earlier commit, compiled. Its packages are those of today. */
function earlier(commit: string): string {
  const out = resolve('node_modules/.cache/plant-store-earlier', commit);
  if (existsSync(out)) return out;
  const draft = `${out}.${process.pid}`;
  mkdirSync(draft, { recursive: true });
  const archive = execFileSync('git', ['archive', commit, 'src', 'package.json'], { maxBuffer: 2 ** 26 });
  execFileSync('tar', ['-xC', draft], { input: archive });
  for (const name of readdirSync(join(draft, 'src'), { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.ts')) continue;
    const script = join(draft, 'dist', name.replace(/ts$/, 'js'));
    mkdirSync(dirname(script), { recursive: true });
    const source = join(draft, 'src', name);
    writeFileSync(script, transpile(readFileSync(source, 'utf8'), { fileName: source }).outputText);
  }
  renameSync(draft, out);
  return out;
}

const isInClone = (commit: string) => {
  try {
    execFileSync('git', ['cat-file', '-e', `${commit}^{commit}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

it('The page about upgrades has a row for each version', () => {
  expect(VERSIONS.map(({ commit }) => commit)).to.include.members(['47ccf2f', '3b84a65']);
});

for (const { commit, beside } of [MAIN, ...VERSIONS]) {
  describeOwnRedis(`main, and ${commit} before it`, (startRedis) => {
    const bash = compiledCli();
    const path = temporaryDirectory();
    let redis: RedisServer;
    let settings: Record<string, string>;
    const processes = new Set<number>();

    before(function () {
      if (commit === MAIN.commit || isInClone(commit)) return;
      const missing = `${commit} is not in this clone: git fetch --unshallow`;
      if (process.env.CI) throw new Error(missing);
      Object.assign(this.test!.parent!, { pendingReason: missing });
      this.skip();
    });
    beforeEach(async () => {
      redis = await startRedis();
      settings = {
        ...{ EVENT_STORE: 'redis', REDIS_URL: redis.url, AUTH_TOKENS: `alice:${tokenOf('alice')}` },
        ...{ LOG_LEVEL: 'warn', SHUTDOWN_NOTICE_MS: '0', SNAPSHOT_EVERY: '0', STORE_TIMEOUT_MS: '5000' },
        ...{ OLD: commit === MAIN.commit ? compiled() : earlier(commit), NEW: compiled() },
      };
    });

    // Those of a test that failed: they are children of the shells that have ended.
    afterEach(() => {
      for (const pid of processes) process.kill(pid, 'SIGKILL');
      processes.clear();
    });

    /** An instance, which runs until the shell gets SIGTERM. */
    async function instance(script: string, more: Readonly<Record<string, string>>) {
      const environment = { ...settings, ...more };
      const shell = bash(`set -e\n${script}\necho "process $!"\ntrap 'kill $!' TERM\nwait`, environment);
      const client = new HttpClient(`http://127.0.0.1:${environment['PORT']!}`);
      const pid = () => /^.*process (\d+)$/m.exec(shell.said.out)?.[1];
      await until(() => pid() !== undefined || shell.child.exitCode !== null);
      expect(pid(), shell.said.error).to.be.a('string');
      await until(async () => (await client.list().catch(() => undefined)) !== undefined);
      processes.add(Number(pid()));
      void shell.ended.then(() => processes.delete(Number(pid())));
      const stop = async () => {
        shell.child.kill('SIGTERM');
        await shell.ended;
      };
      return { client, pid: pid()!, stop };
    }
    const ports = async () => ({ PORT: String(await freePort()), ADMIN_PORT: String(await freePort()) });
    const start = async (version: 'OLD' | 'NEW', more: Readonly<Record<string, string>> = {}) =>
      instance(`node "$${version}/dist/main.js" &`, { ...(await ports()), ...more });

    async function succeeds(script: string, more: Readonly<Record<string, string>> = {}): Promise<string> {
      const { code, out, error } = await bash(`set -e\n${script}`, { ...settings, ...more }).ended;
      expect(code, error).to.equal(0);
      return out;
    }

    if (!beside)
      it('serve what either wrote, through a conversion of the store, and back', async () => {
        const places = await ports();
        const old = await start('OLD', places);
        await old.client.plants([0, 'Fern'], [1, 'Moss']);
        const step = ({ text }: { text: string }, { pid }: { pid: string }) =>
          instance(text, { ...places, PID: pid });
        const upgraded = await step(theBlock('sh upgrade convert'), old);
        expect(await upgraded.client.names()).to.deep.equal(['Fern', 'Moss']);
        await upgraded.client.plants([2, 'Ivy']);
        const back = await step(theBlock('sh rollback convert'), upgraded);
        expect(await back.client.names()).to.deep.equal(['Fern', 'Moss', 'Ivy']);
        await back.client.plants([3, 'Aloe']);
        const again = await step(theBlock('sh upgrade convert'), back);
        expect(await again.client.names()).to.deep.equal(['Fern', 'Moss', 'Ivy', 'Aloe']);
        for (const each of [old, upgraded, back, again]) await each.stop();
      });
    else
      it('serve what either wrote, through an upgrade and a rollback', async () => {
        const places = await ports();
        const first = await start('OLD', places);
        const second = await start('OLD');
        const names = ['Fern'];
        await first.client.plants([0, 'Fern']);
        await succeeds(theBlock('sh upgrade check').text);

        // With the commands of the page.
        const replace = (pid: string, NEW: string) =>
          instance(theBlock('sh upgrade instance').text, { ...places, PID: pid, NEW });
        const upgraded = await replace(first.pid, settings['NEW']!);
        expect(await upgraded.client.names()).to.deep.equal(names);
        expect(await succeeds(`curl -fs "http://127.0.0.1:${places.ADMIN_PORT}/metrics"`)).to.contain(
          'plant_store_build_info{version="',
        );
        const clients = [upgraded.client, second.client];
        for (let id = 1; id < 12; id++) {
          await clients[id % clients.length]!.plants([id, `Ivy ${id}`]);
          names.push(`Ivy ${id}`);
          if (id % 5 === 0) {
            expect((await clients[(id + 1) % clients.length]!.delete(id)).status).to.equal(204);
            names.pop();
          }
          for (const client of clients) expect(await client.names()).to.deep.equal(names);
        }
        const back = await replace(upgraded.pid, settings['OLD']!);
        expect(await back.client.names()).to.deep.equal(names);
        await back.client.plants([100, 'Moss']);
        expect(await second.client.names()).to.deep.equal([...names, 'Moss']);
        await back.stop();
        for (const each of [first, second, upgraded]) await each.stop();
      });

    it('lose nothing by a rollback with an export, also of archived users with snapshots', async () => {
      const main = await start('NEW', { SNAPSHOT_EVERY: '2' });
      const names = Array.from({ length: 8 }, (_, id) => `Ivy ${id}`);
      for (const [id, name] of names.entries()) await main.client.plants([id, name]);
      await main.stop();
      const archive = path('alice-1.ndjson');
      await succeeds(`node "$NEW/dist/cli.js" events archive --user alice --until 4 --output ${archive}`);
      if (beside) {
        const old = await start('OLD');
        // Never a part of the list.
        const { status, names: listed } = await old.client.list();
        if (status === 200) expect(listed).to.deep.equal(names);
        else expect(status).to.equal(503);
        await old.stop();
      }

      const empty = await startRedis();
      const more = { NEW_REDIS_URL: empty.url, EXPORT: path('export'), ARCHIVES: `--archive ${archive}` };
      await succeeds(theBlock('sh rollback export').text, more);
      const old = await start('OLD', { REDIS_URL: empty.url });
      expect(await old.client.names()).to.deep.equal(names);
      await old.client.plants([100, 'Moss']);
      await old.stop();
      const again = await start('NEW');
      expect(await again.client.names()).to.deep.equal(names);
      await again.stop();
    });
  });
}
