import { Stream } from '../../../src/testing/a-stream';
import { encoded, ferns } from '../../support/plant-events';
import { execFile } from 'node:child_process';
import { expect } from 'chai';
import { plantsOf } from '../../support/given';
import { openRedisEventStore } from '../../../src/adapters/redis';
import { BEGINNING, StoreUnavailable } from '../../../src/event-sourcing';
import { HttpClient, type HttpResponse, servedInTime } from '../../support/client';
import { compiledMain } from '../../support/compiled';
import { instancesPerTest } from '../../support/instance';
import { type RedisServer, describeOwnRedis } from '../../support/redis';
import { rejection } from '../../support/rejection';
import { TcpProxy } from '../../support/tcp-proxy';

const DURABLE = ['--appendonly', 'yes', '--appendfsync', 'always'];

describeOwnRedis('The service, when it connects to Redis,', (startRedis) => {
  const startInstances = instancesPerTest();

  async function start(redis: { url: string }, environment: Readonly<Record<string, string>> = {}) {
    const [instance] = await startInstances(1, { REDIS_URL: redis.url, ...environment });
    // Each store of these tests is new, which is a warning of its own.
    const said = (level: number) =>
      instance!.log
        .filter((line) => line.level === level && !line.msg.includes('new, empty store'))
        .map(({ msg }) => msg);
    return { alice: new HttpClient(instance!.url), warnings: () => said(40), errors: () => said(50) };
  }

  describe('refuses to start on a Redis', () => {
    const refusalOf = async (redis: Pick<RedisServer, 'url'>) => {
      try {
        await start(redis);
      } catch (error) {
        return (error as Error).message;
      }
      return expect.fail('it has started');
    };

    it('that is a replica, and says where to connect', async () => {
      const primary = await startRedis();
      const replica = await startRedis('--replicaof', ...primary.peer);
      expect(await refusalOf(replica))
        .to.include('is a replica')
        .and.to.include('REDIS_URL');
    });

    it('that is a replica, even if only the connection for reads leads to it', async () => {
      const primary = await startRedis();
      const replica = await startRedis('--replicaof', ...primary.peer);
      const ports = [primary.port];
      const proxy = await TcpProxy.to({
        host: primary.host,
        // The proxy reads it for each connection; the store opens the one for writes first.
        get port() {
          return ports.shift() ?? replica.port;
        },
      });
      const url = `redis://127.0.0.1:${proxy.port}`;
      const refusal = await rejection(openRedisEventStore({ url, waitReplicas: 1 }));
      await proxy.close();
      expect(refusal)
        .to.be.instanceOf(StoreUnavailable)
        .and.to.have.property('message')
        .that.includes('is a replica');
    });

    it('that does not have its database, and says which exist', async () => {
      const redis = await startRedis('--databases', '2');
      expect(await refusalOf({ url: `${redis.url}/3` })).to.match(
        /^Redis must not be used: it has no database 3, only 0 to 1: name another one in REDIS_URL/,
      );
      expect(await redis.admin.info('keyspace')).to.not.include('db');
    });

    it('with one line, without a stack, and with exit code 1', async () => {
      const redis = await startRedis('--maxmemory-policy', 'allkeys-lru');
      const { code, stderr } = await main({ REDIS_URL: redis.url });

      expect(code).to.equal(1);
      expect(stderr).to.match(
        /^cannot start: Redis must not be used: maxmemory-policy is allkeys-lru, .*\n$/,
      );
    });
  });

  it('can read at once, even with a separate connection for reads', async () => {
    const redis = await startRedis(...DURABLE);
    for (let time = 0; time < 5; time++) {
      const opened = await openRedisEventStore({
        url: redis.url,
        waitReplicas: 1,
        allowUnreachable: false,
      });
      const read = opened.store.read(plantsOf('alice'), BEGINNING).finally(() => opened.close());
      expect((await read).status).to.equal('read');
    }
  });

  it('waits as long as a request may take if Redis must be reachable, because its network may be slow', async () => {
    const { host, port } = await startRedis(...DURABLE);
    const proxy = await TcpProxy.to({ host, port });
    proxy.delayMs = 350;
    try {
      const url = `redis://127.0.0.1:${proxy.port}`;
      const patient = { url, allowUnreachable: false, timeoutMs: 20_000 };
      const opened = await openRedisEventStore(patient);
      const read = opened.store.read(plantsOf('alice'), BEGINNING).finally(() => opened.close());
      expect((await read).status).to.equal('read');
    } finally {
      await proxy.close();
    }
  });

  it('treats an option that is undefined as absent', async () => {
    const { url } = await startRedis(...DURABLE);
    // As callers in JavaScript do: `{ keyPrefix: process.env.KEY_PREFIX }`.
    const unset = { keyPrefix: undefined, waitReplicas: undefined, timeoutMs: undefined };
    const opened = await openRedisEventStore({ url, ...(unset as object) });
    const defaults = await openRedisEventStore({ url });
    try {
      const stream = new Stream(opened.store);
      await stream.add(BEGINNING, ...encoded(...ferns(1)));
      expect(await new Stream(defaults.store, stream.name).history()).to.have.length(1);
    } finally {
      opened.close();
      defaults.close();
    }
  });

  describe('authenticates', () => {
    it('with a password of any characters, and uses the configured database', async () => {
      const password = 'p:ä/s@s #?%';
      const redis = await startRedis();
      await redis.admin.config('SET', 'requirepass', password);
      const { alice } = await start({
        url: redis.url.replace('//', `//:${encodeURIComponent(password)}@`) + '/3',
      });
      expect((await alice.create(1, 'Fern')).status).to.equal(200);

      expect(await redis.admin.dbsize()).to.equal(0);
      await redis.admin.select(3);
      expect(await redis.admin.keys('*')).to.have.members([
        'plant-store:{39}:feed',
        'plant-store:{39}:plants/alice:events',
        'plant-store:store:{identity}:events',
      ]);
    });

    it('when its password becomes valid, and logs while it is not', async () => {
      const redis = await startRedis();
      await redis.admin.config('SET', 'requirepass', 'changed');
      const { alice, warnings } = await start({ url: redis.url.replace('//', '//:secret@') });

      expect((await alice.list()).error).to.equal(50300);
      expect(warnings().join()).to.include('WRONGPASS').and.not.to.include('secret');

      await redis.admin.config('SET', 'requirepass', 'secret');
      await servedInTime(() => alice.list());
    });
  });

  describe('examines Redis again', () => {
    const REFUSED = { status: 503, error: 50300 };
    const problemOf = ({ status, error }: HttpResponse) => ({ status, error });

    /** Lists until the log says that Redis must not be used. */
    async function untilRefused(alice: HttpClient, errors: () => string[]): Promise<void> {
      while (errors().every((line) => !line.includes('must not be used'))) await alice.list();
    }

    it('and refuses it after it was demoted to a replica, until it is promoted', async () => {
      const primary = await startRedis();
      const { alice, errors } = await start(primary);
      await alice.create(1, 'Fern');

      // Of an unreachable primary, so that it keeps its data.
      await primary.admin.replicaof('127.0.0.1', 1);
      await untilRefused(alice, errors);
      expect(problemOf(await alice.list())).to.deep.equal(REFUSED);
      expect(problemOf(await alice.create(2, 'Moss'))).to.deep.equal(REFUSED);
      expect(errors()).to.have.lengthOf(1);
      expect(errors()[0]).to.include('is a replica');

      await primary.admin.replicaof('NO', 'ONE');
      await servedInTime(() => alice.create(2, 'Moss'));
    });

    it('on the same connection if it could not be examined: without the right to SELECT, until that is granted', async () => {
      const redis = await startRedis();
      await redis.admin.call('ACL', 'SETUSER', 'plants', 'on', '>pass', '~*', '+@all', '-select');
      const { alice } = await start({ url: `${redis.url.replace('//', '//plants:pass@')}/3` });
      expect(problemOf(await alice.list())).to.deep.equal(REFUSED);

      const connected = async () =>
        /total_connections_received:(\d+)/.exec(await redis.admin.info('stats'))![1];
      const before = await connected();
      await redis.admin.acl('SETUSER', 'plants', '+select');
      await servedInTime(() => alice.create(1, 'Fern'));
      expect(await connected()).to.equal(before);
    });
  });
});

/** Runs `npm start` until it ends by itself. */
function main(environment: Readonly<Record<string, string>>): Promise<{ code: unknown; stderr: string }> {
  const env = {
    PATH: process.env['PATH'],
    EVENT_STORE: 'redis',
    AUTH_TOKENS: 'alice:secret',
    PORT: '0',
    LOG_LEVEL: 'silent',
    ...environment,
  };
  return new Promise((resolve) => {
    execFile(process.execPath, [compiledMain()], { env }, (error, _stdout, stderr) => {
      resolve({ code: error?.code ?? 0, stderr });
    });
  });
}
