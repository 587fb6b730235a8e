import { spawn, spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { theBlock } from '../docs/samples';
import { describePrograms } from '../support/programs';
import { freePort } from '../support/ports';
import { TestProcess, compiledCli } from '../support/service-process';
import { temporaryDirectory } from '../support/temporary-directory';
import { until } from '../support/until';

const [PASSWORD, OPERATOR_PASSWORD] = ['a-password-of-the-service', 'a-password-of-operators'];
const ENVIRONMENT = { REDIS_PASSWORD: PASSWORD, REDIS_OPERATOR_PASSWORD: OPERATOR_PASSWORD };

/**
 * A primary or a replica, started by deploy/redis/start.sh or with a configuration file that has
 * the same settings.
 */
class Server {
  #process: TestProcess | undefined;
  readonly #file: string;

  /** @param replicaOf the port of its primary, which it has at its next start. */
  constructor(
    readonly port: number,
    private readonly folder: string,
    private readonly hasFile: boolean,
    public replicaOf?: number,
  ) {
    mkdirSync(folder);
    this.#file = `${folder}/redis.conf`;
    if (!hasFile) return;
    // This program stands for Redis, and prints the configuration that it gets.
    writeFileSync(`${folder}/redis-server`, '#!/bin/sh\ncat\n', { mode: 0o755 });
    const env = { PATH: `${folder}:${process.env.PATH!}`, ...ENVIRONMENT };
    writeFileSync(this.#file, spawnSync('sh', ['deploy/redis/start.sh'], { env }).stdout);
    for (const setting of this.#settings) this.configure(setting.join(' '));
  }

  get #settings(): string[][] {
    const replicas = [
      ['min-replicas-to-write', '1'],
      ['min-replicas-max-lag', '3'],
      ['repl-diskless-sync-delay', '0'],
    ];
    if (this.replicaOf) replicas.push(['replicaof', '127.0.0.1', String(this.replicaOf)]);
    return [['port', String(this.port)], ['dir', this.folder], ...replicas];
  }

  configure(line: string): void {
    appendFileSync(this.#file, `${line}\n`);
  }

  async start(): Promise<void> {
    const args = this.#settings.flatMap(([name, ...values]) => [`--${name}`, ...values]);
    const [program, ...words] = this.hasFile
      ? ['redis-server', this.#file]
      : ['sh', 'deploy/redis/start.sh', ...args];
    this.#process = new TestProcess(
      spawn(program, words, { env: { PATH: process.env.PATH, ...ENVIRONMENT } }),
    );
    // The health checks of compose.yaml and of an orchestrator do the same.
    const ping = ['-p', String(this.port), '--user', 'probe', '--pass', 'any', '-e', 'ping'];
    await until(() => spawnSync('redis-cli', ping).status === 0);
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    this.#process?.signal(signal);
    await this.#process?.ended;
  }

  readonly signal = (signal: NodeJS.Signals) => this.#process!.signal(signal);

  urlOf(user: 'service' | 'admin'): string {
    const account =
      user === 'service' ? `plant-store:${PASSWORD}` : `plant-store-admin:${OPERATOR_PASSWORD}`;
    return `redis://${account}@127.0.0.1:${this.port}`;
  }

  get replication(): string {
    return this.#info('replication');
  }

  #info(section: string): string {
    const args = ['-u', this.urlOf('admin'), 'INFO', section];
    return spawnSync('redis-cli', args, { encoding: 'utf8' }).stdout;
  }

  /**
   * Stops it and starts it again. Redis refuses SIGTERM until the first AOF of a replica that has
   * just synchronized is written.
   */
  async reboot(): Promise<void> {
    await until(() => !/aof_rewrite_(in_progress|scheduled):1/.test(this.#info('persistence')));
    await this.stop();
    await this.start();
  }

  /** Resolves once it follows its primary. */
  follows(): Promise<void> {
    return until(() => this.replication.includes('master_link_status:up'));
  }
}

describePrograms(
  { 'redis-server': 'redis-server' },
  'A failover without Sentinels, by docs/runbook.md,',
  () => {
    const run = compiledCli();
    const path = temporaryDirectory();
    const running: Server[] = [];
    let OLD: Server;
    let NEW: Server;
    /** The names of all acknowledged plants. */
    let acknowledged: string[];
    afterEach(() => Promise.all(running.splice(0).map((server) => server.stop('SIGKILL'))));

    async function start(hasFile: boolean, primary?: Server): Promise<Server> {
      const server = new Server(
        await freePort(),
        path(`server-${running.length}`),
        hasFile,
        primary?.port,
      );
      running.push(server);
      await server.start();
      if (primary) await server.follows();
      return server;
    }

    async function startBoth(hasFiles: boolean): Promise<void> {
      acknowledged = [];
      OLD = await start(hasFiles);
      NEW = await start(hasFiles, OLD);
      await write(OLD);
    }

    /** Runs commands of the page. */
    function follow(kind: string, more: Record<string, string> = {}) {
      const commands = theBlock(`sh failover ${kind}`)
        .replace(/OLD=\S+ NEW=\S+/, `OLD=${OLD.urlOf('admin')} NEW=${NEW.urlOf('admin')}`)
        .replace('TIMEOUT 10000', 'TIMEOUT ${TIMEOUT:-10000}')
        .replaceAll('10.0.0.2 6379', `127.0.0.1 ${NEW.port}`);
      return run(commands, { OLD: OLD.urlOf('admin'), NEW: NEW.urlOf('admin'), ...more }).ended;
    }

    const settings = (server: Server) => ({
      EVENT_STORE: 'redis',
      REDIS_URL: server.urlOf('service'),
    });

    /**
     * Creates a plant at this server: repeats it until it is acknowledged, with this
     * `REDIS_WAIT_REPLICAS`.
     */
    async function write(server: Server, replicas = '0'): Promise<void> {
      const name = `Fern-${acknowledged.length + 1}`;
      const create = `plant-store create --user alice --id ${acknowledged.push(name)} --name ${name}`;
      await until(async () => {
        const environment = { ...settings(server), REDIS_WAIT_REPLICAS: replicas };
        const { code, error } = await run(create, environment).ended;
        if (code !== 0) expect([3, 4], error).to.include(code);
        return code === 0;
      });
    }

    async function names(server: Server): Promise<string[]> {
      const { out } = await run('plant-store list --user alice', settings(server)).ended;
      return out.trim().split('\n');
    }

    /**
     * The new primary has every acknowledged plant, and the page's look at the roles shows what it
     * says.
     */
    async function expectNothingLost(): Promise<void> {
      await OLD.follows();
      const { out } = await run('plant-store list --user alice', settings(NEW)).ended;
      expect(out.trim().split('\n')).to.deep.equal(acknowledged);
      expect((await follow('roles')).out.replaceAll('\r', '').trim().split('\n')).to.deep.equal([
        'role:slave',
        'master_host:127.0.0.1',
        `master_port:${NEW.port}`,
        'master_link_status:up',
        'connected_slaves:0',
        'role:master',
        `connected_slaves:${running.length - 1}`,
      ]);
    }

    for (const hasFiles of [true, false])
      for (const first of ['the old', 'the new'])
        it(`loses nothing if ${first} primary is rebooted before the other, with files: ${hasFiles}`, async () => {
          await startBoth(hasFiles);
          const followed = await follow('redis');
          expect(followed.code, followed.error).to.equal(hasFiles ? 0 : 1);
          if (!hasFiles)
            expect(followed.error).to.contain('The server is running without a config file');
          [OLD.replicaOf, NEW.replicaOf] = [NEW.port, undefined];
          await write(NEW);
          for (const server of first === 'the old' ? [OLD, NEW] : [NEW, OLD]) {
            await server.reboot();
            await write(NEW);
          }
          await expectNothingLost();
        });

    it('does not change the primary if the replica does not get all writes in time', async () => {
      await startBoth(true);
      NEW.signal('SIGSTOP');
      // Only the frozen replica lacks it.
      await write(OLD);
      expect(await follow('redis')).to.include({ code: 1 });
      NEW.signal('SIGCONT');
      await write(OLD);
      await NEW.follows();
      expect(await names(OLD)).to.deep.equal(acknowledged);
    });

    it('makes a further replica follow the new primary, even after a reboot', async () => {
      await startBoth(true);
      const third = await start(true, OLD);
      expect(await follow('redis')).to.include({ code: 0 });
      expect(await follow('follow', { OTHER: third.urlOf('admin') })).to.include({ code: 0 });
      await write(NEW);
      await third.reboot();
      await third.follows();
      await expectNothingLost();
    });

    it('makes a replica the primary if the primary is gone, and lets that one follow it when it is back', async () => {
      await startBoth(true);
      await write(OLD, '1');
      await OLD.stop('SIGKILL');
      expect(await follow('gone')).to.include({ code: 0 });
      await NEW.reboot();
      OLD.configure(`replicaof 127.0.0.1 ${NEW.port}`);
      await OLD.start();
      await write(NEW);
      await expectNothingLost();
    });
  },
);
