/** Every setting, set to an unusual value, has its effect on a service that was started with it. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type Socket, connect, createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { tokenDigest } from '../../src/adapters/auth/tokens';
import { variables } from '../../src/service/config';
import { AUDIENCE, ISSUER, SECRET, signed, signingKey } from '../adapters/auth/signing';
import { JwksServer } from '../adapters/auth/jwks-server';
import { HttpClient } from '../support/client';
import { metricOf } from '../support/metrics';
import { describeSharedRedis } from '../support/redis';
import { freePort, listenLocally } from '../support/ports';
import { rejection } from '../support/rejection';
import { SlowStore } from '../support/served';
import { ServiceProcess } from '../support/service-process';
import { temporaryDirectory } from '../support/temporary-directory';
import { tokenFileOf } from '../support/token';
import { until } from '../support/until';
import { type WatchedService, startWatched } from '../support/watched-service';

type Environment = Readonly<Record<string, string>>;
type Name = (typeof variables)[number]['name'];

describeSharedRedis('The setting', (redis) => {
  const path = temporaryDirectory();
  const ends: (() => unknown)[] = [];
  let prefix = 0;
  afterEach(async () => {
    for (const end of ends.splice(0)) await end();
  });

  async function start(environment: Environment, store?: SlowStore): Promise<WatchedService> {
    const starting = startWatched(environment, store && { eventStore: store });
    ends.push(async () => (await starting.catch(() => undefined))?.stop());
    return starting;
  }
  const onRedis = (environment: Environment = {}) =>
    start({
      EVENT_STORE: 'redis',
      REDIS_URL: redis.url,
      REDIS_KEY_PREFIX: `${redis.prefix}:${++prefix}`,
      ...environment,
    });
  const statusOf = async ({ url }: WatchedService, token?: string) =>
    (await new HttpClient(url, 'alice', token).list()).status;
  const jwt = (by: Parameters<typeof signed>[0], claims: object = {}) =>
    signed(by, { iat: undefined, exp: Date.now() / 1000 + 300, ...claims });
  const written = (text: string) => {
    writeFileSync(path('file'), text, { mode: 0o600 });
    return path('file');
  };

  /** A server that says the same to every command. `sent` resolves once it has received `part`. */
  async function serverThatSays(reply: string): Promise<{
    readonly address: string;
    readonly sent: (part: string) => Promise<void>;
  }> {
    let bytes = '';
    const sockets: Socket[] = [];
    const server = createServer((socket) => {
      sockets.push(socket);
      socket.on('error', () => {});
      socket.on('data', (some) => {
        bytes += some.toString();
        socket.write(`${reply}\r\n`.repeat(some.toString().split(/^\*\d/m).length - 1));
      });
    });
    const port = await listenLocally(server);
    ends.push(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    const sent = (part: string) => until(() => bytes.includes(part));
    return { address: `127.0.0.1:${port}`, sent };
  }

  async function processLog(environment: Environment): Promise<string> {
    const service = await ServiceProcess.spawn({ LOG_LEVEL: 'info', ...environment }).listens();
    await fetch(`${service.url}/nowhere`);
    service.signal('SIGTERM');
    await service.exitCode();
    return service.output;
  }

  async function expectSecret(environment: Environment): Promise<void> {
    const claims = { AUTH_JWT_ISSUER: ISSUER, AUTH_JWT_AUDIENCE: AUDIENCE };
    const service = await start({ ...environment, ...claims });
    expect(await statusOf(service, await jwt(SECRET))).to.equal(200);
    expect(await statusOf(service, await jwt(SECRET.map((byte) => byte ^ 1)))).to.equal(401);
  }
  const secret = Buffer.from(SECRET).toString();

  const effects: Readonly<Record<Name, () => unknown>> = {
    async HOST() {
      const { url } = await start({ HOST: '127.0.0.3' });
      expect(url).to.match(/^http:\/\/127\.0\.0\.3:/);
      expect((await fetch(url)).status).to.equal(200);
    },
    async PORT() {
      const PORT = String(await freePort());
      await start({ PORT });
      expect((await fetch(`http://127.0.0.1:${PORT}`)).status).to.equal(200);
    },
    async ADMIN_PORT() {
      const ADMIN_PORT = String(await freePort());
      const { url } = await start({ ADMIN_PORT });
      const statuses = [url, `http://127.0.0.1:${ADMIN_PORT}`].map(
        async (at) => (await fetch(`${at}/metrics`)).status,
      );
      expect(await Promise.all(statuses)).to.deep.equal([404, 200]);
    },
    async EVENT_STORE() {
      writeFileSync(
        path('store.mjs'),
        `const store = { read() {}, append() {} };
        const check = async () => ({ writes: false });
        export const openEventStore = () => ({ store, check, close() {} });`,
      );
      const { url } = await start({ EVENT_STORE: path('store.mjs') });
      expect(await (await fetch(`${url}/health/ready`)).text()).to.contain('writes_refused');
    },
    async REDIS_URL() {
      const { address, sent } = await serverThatSays('-ERR odd');
      void onRedis({ REDIS_URL: `redis://ada:s3cret@${address}/7` });
      await sent('s3cret');
    },
    async REDIS_URL_FILE() {
      const { address, sent } = await serverThatSays('-ERR odd');
      void onRedis({ REDIS_URL: '', REDIS_URL_FILE: written(`redis://ada:s3cret@${address}/7`) });
      await sent('s3cret');
    },
    async REDIS_CLUSTER_NODES() {
      const { address, sent } = await serverThatSays('-ERR odd');
      // Without the password of the shared Redis, because the refusal of AUTH would end the
      // connection.
      void onRedis({ REDIS_URL: `redis://${address}`, REDIS_CLUSTER_NODES: address });
      await sent('SLOTS');
    },
    async REDIS_SENTINELS() {
      const { address, sent } = await serverThatSays('+OK');
      void onRedis({ REDIS_SENTINELS: address, REDIS_SENTINEL_MASTER: 'gardens' });
      await sent('gardens');
    },
    async REDIS_SENTINEL_MASTER() {
      const { address, sent } = await serverThatSays('+OK');
      void onRedis({ REDIS_SENTINELS: address, REDIS_SENTINEL_MASTER: 'gardens' });
      await sent('gardens');
    },
    async REDIS_KEY_PREFIX() {
      const REDIS_KEY_PREFIX = `${redis.prefix}:odd`;
      const { url } = await onRedis({ REDIS_KEY_PREFIX });
      await new HttpClient(url).plants([1, 'Fern']);
      expect(await redis.admin.keys(`${REDIS_KEY_PREFIX}:{*}:plants/alice:events`)).to.have.length(
        1,
      );
    },
    async REDIS_WAIT_REPLICAS() {
      // A store accepts no writes before it has an id, which that many replicas would have to
      // confirm, too.
      const REDIS_KEY_PREFIX = `${redis.prefix}:waiting`;
      await onRedis({ REDIS_KEY_PREFIX });
      const { url } = await onRedis({
        REDIS_KEY_PREFIX,
        REDIS_WAIT_REPLICAS: '16',
        STORE_TIMEOUT_MS: '900',
      });
      expect(await new HttpClient(url).create(1, 'Fern')).to.include({ status: 503, error: 50301 });
    },
    async REDIS_STORE_ID() {
      const REDIS_KEY_PREFIX = `${redis.prefix}:other`;
      await onRedis({ REDIS_KEY_PREFIX });
      const REDIS_STORE_ID = '11111111-1111-4111-8111-111111111111';
      expect(String(await rejection(onRedis({ REDIS_KEY_PREFIX, REDIS_STORE_ID })))).to.contain(
        REDIS_STORE_ID,
      );
    },
    async AUTH_TOKENS() {
      expect(await statusOf(await start({ AUTH_TOKENS: 'ada:odd' }), 'odd')).to.equal(200);
    },
    async AUTH_TOKENS_FILE() {
      const file = { AUTH_TOKENS: '', AUTH_TOKENS_FILE: written(tokenFileOf({ ada: ['odd'] })) };
      const service = await start(file);
      expect([
        await statusOf(service, 'odd'),
        await statusOf(service, tokenDigest('odd')),
      ]).to.deep.equal([200, 401]);
    },
    async AUTH_JWKS_URL() {
      const key = await signingKey('odd');
      const issuer = await JwksServer.start(key.jwk);
      ends.push(() => issuer.die());
      const claims = { AUTH_JWT_ISSUER: ISSUER, AUTH_JWT_AUDIENCE: AUDIENCE };
      const service = await start({ AUTH_JWKS_URL: issuer.url.href, ...claims });
      await until(async () => (await statusOf(service, await jwt(key))) === 200);
    },
    AUTH_JWT_SECRET: () => expectSecret({ AUTH_JWT_SECRET: secret }),
    AUTH_JWT_SECRET_FILE: () => expectSecret({ AUTH_JWT_SECRET_FILE: written(secret) }),
    async AUTH_JWT_ISSUER() {
      const service = await start({
        AUTH_JWT_SECRET: secret,
        AUTH_JWT_ISSUER: 'odd',
        AUTH_JWT_AUDIENCE: AUDIENCE,
      });
      const statuses = ['odd', ISSUER].map(async (iss) =>
        statusOf(service, await jwt(SECRET, { iss })),
      );
      expect(await Promise.all(statuses)).to.deep.equal([200, 401]);
    },
    async AUTH_JWT_AUDIENCE() {
      const service = await start({
        AUTH_JWT_SECRET: secret,
        AUTH_JWT_ISSUER: ISSUER,
        AUTH_JWT_AUDIENCE: 'odd',
      });
      const statuses = ['odd', AUDIENCE].map(async (aud) =>
        statusOf(service, await jwt(SECRET, { aud })),
      );
      expect(await Promise.all(statuses)).to.deep.equal([200, 401]);
    },
    async MAX_CONNECTIONS() {
      const { url } = await start({ MAX_CONNECTIONS: '2' });
      const { hostname, port } = new URL(url);
      let closed = 0;
      for (let each = 0; each < 3; each++) {
        const socket = connect(Number(port), hostname)
          .on('error', () => {})
          .on('close', () => closed++);
        await once(socket, 'connect');
        ends.push(() => socket.destroy());
      }
      await until(() => closed === 1);
    },
    async MAX_USER_REQUESTS() {
      const store = Object.assign(new SlowStore(), { delayMs: 200 });
      const { url } = await start({ MAX_USER_REQUESTS: '2' }, store);
      const statuses = await Promise.all(
        [1, 2, 3].map(async () => (await new HttpClient(url).list()).status),
      );
      expect(statuses.sort()).to.deep.equal([200, 200, 429]);
    },
    async CORS_ORIGINS() {
      const { url } = await start({ CORS_ORIGINS: 'https://odd.example' });
      const { headers } = await fetch(url, { headers: { Origin: 'https://odd.example' } });
      expect(headers.get('access-control-allow-origin')).to.equal('https://odd.example');
    },
    async BODY_LIMIT() {
      const alice = new HttpClient((await start({ BODY_LIMIT: '22' })).url);
      expect((await alice.create(1, 'Fern')).status).to.equal(200);
      expect((await alice.create(2, 'Feather')).status).to.equal(413);
    },
    async REQUEST_TIMEOUT_MS() {
      const { url } = await start({ REQUEST_TIMEOUT_MS: '100' });
      const { hostname, port } = new URL(url);
      const socket = connect(Number(port), hostname);
      socket.write('GET / HTTP/1.1\r\n');
      // Node looks for late requests once a second, and waits for a header at most ten.
      const answer = await Promise.race([once(socket, 'data'), pause(8000)]);
      expect(String(answer)).to.match(/^HTTP\/1\.1 408 /);
      socket.destroy();
    },
    async STORE_TIMEOUT_MS() {
      const store = Object.assign(new SlowStore(), { delayMs: Infinity });
      ends.push(() => (store.delayMs = 0));
      const { url } = await start({ STORE_TIMEOUT_MS: '50' }, store);
      const answer = await Promise.race([new HttpClient(url).list(), pause(1500)]);
      expect(answer).to.include({ status: 503 });
    },
    async SHUTDOWN_NOTICE_MS() {
      expect(await processLog({ SHUTDOWN_NOTICE_MS: '7' })).to.contain('"noticeMs":7,');
    },
    async SHUTDOWN_TIMEOUT_MS() {
      const store = Object.assign(new SlowStore(), { delayMs: Infinity });
      const service = await startWatched(
        { SHUTDOWN_TIMEOUT_MS: '50', STORE_TIMEOUT_MS: '60000' },
        { eventStore: store },
      );
      const aborted = rejection(new HttpClient(service.url).list());
      await until(() => store.trips > 0);
      expect(await service.stop()).to.equal(false);
      store.delayMs = 0;
      await aborted;
    },
    async CACHE_MAX_BYTES() {
      const { url } = await start({ CACHE_MAX_BYTES: '1234567' });
      expect(await metricOf(url, 'plant_store_cache_limit_bytes')).to.equal(1_234_567);
    },
    async SNAPSHOT_EVERY() {
      const { url } = await onRedis({ SNAPSHOT_EVERY: '1' });
      await new HttpClient(url).plants([1, 'Fern'], [2, 'Moss']);
      await until(
        async () => (await metricOf(url, 'plant_store_snapshots_total{outcome="saved"}')) > 0,
      );
    },
    async LOG_LEVEL() {
      expect(await processLog({ LOG_LEVEL: 'error' })).not.to.contain('"msg":"request"');
      expect(await processLog({ LOG_LEVEL: 'info' })).to.contain('"msg":"request"');
    },
    async LOG_FORMAT() {
      expect(await processLog({ LOG_FORMAT: 'pretty' })).to.match(
        /^\[\S+\] INFO: GET \/nowhere 404 /m,
      );
    },
  };

  for (const { name } of variables)
    it(`${name} has the effect that it promises`, async () => {
      expect(effects, 'a new setting needs a row here').to.have.property(name);
      await effects[name]();
    });
});
