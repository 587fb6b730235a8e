import { once } from 'node:events';
import { readFileSync, readdirSync } from 'node:fs';
import { type Socket, connect } from 'node:net';
import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { SignJWT } from 'jose';
import { PROBLEMS } from '../../src/adapters/http/app/problems';
import { HttpClient } from '../support/client';
import { describePrograms } from '../support/programs';
import { freePort } from '../support/redis/free-port';
import { temporaryDirectory } from '../support/temporary-directory';
import { tokenOf } from '../support/token';
import { until } from '../support/until';
import { type WatchedService, startWatched } from '../support/watched-service';
import { CONFIGURATION, Haproxy, type HaproxyOptions } from '../world/load/haproxy';

const USERS = Array.from({ length: 16 }, (_, index) => `user${index}`);
const SECRET = 'a secret of at least thirty-two bytes';
const SERVICE = {
  AUTH_TOKENS: USERS.map((user) => `${user}:${tokenOf(user)}`).join(),
  AUTH_JWT_SECRET: SECRET,
  AUTH_JWT_ISSUER: 'issuer',
  AUTH_JWT_AUDIENCE: 'plants',
};

describePrograms({ haproxy: 'haproxy' }, 'The proxy of deploy/haproxy.cfg', () => {
  const inDirectory = temporaryDirectory();
  let haproxy: Haproxy;
  const services = new Map<number, WatchedService>();

  async function start(count: number, options: Pick<HaproxyOptions, 'maxconn'> = {}): Promise<number[]> {
    const ports = await Promise.all(Array.from({ length: count }, () => freePort()));
    await Promise.all(ports.map(serve));
    const file = inDirectory('haproxy.cfg');
    haproxy = await Haproxy.start({ port: await freePort(), servers: ports, file, ...options });
    const isServed = () =>
      fetch(haproxy.url).then(
        ({ ok }) => ok,
        () => false,
      );
    await until(isServed);
    return ports;
  }
  async function serve(port: number): Promise<void> {
    services.set(port, await startWatched({ ...SERVICE, PORT: String(port) }));
  }
  async function stop(port: number): Promise<void> {
    await services.get(port)!.stop();
    services.delete(port);
  }
  afterEach(async () => {
    await haproxy.stop();
    await Promise.all([...services.keys()].map(stop));
  });

  /** The bytes that the proxy sends until it closes the connection. */
  async function exchangeRaw(bytes: string): Promise<string> {
    const socket = connect(Number(new URL(haproxy.url).port), '127.0.0.1');
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    socket.write(bytes);
    await once(socket, 'close');
    return text;
  }

  it('has the messages of the service', async () => {
    await start(1);
    const bodies = [
      ...[...readFileSync(CONFIGURATION, 'utf8').matchAll(/^ *http-error .* string '(.*)'$/gm)].map(
        ([, body]) => body!,
      ),
      ...readdirSync('deploy/haproxy-errors').map((file) =>
        readFileSync(`deploy/haproxy-errors/${file}`, 'utf8').replace(/^[^]*\r\n\r\n/, ''),
      ),
    ];
    expect(bodies).to.have.length(7);
    const known = Object.values(PROBLEMS).map(({ error, message }) => JSON.stringify({ error, message }));
    expect(known).to.include.members(bodies);
  });

  it('answers as the service if no instance is ready, and logs the id of the response', async () => {
    const [port] = await start(1);
    await stop(port!);
    // The client checks the response against the OpenAPI document.
    await until(async () => (await new HttpClient(haproxy.url, 'user0').list()).error === 50300);
    const { status, headers } = await new HttpClient(haproxy.url, 'user0').get('/plants', {
      'X-Request-Id': 'mine',
    });
    expect([status, headers['x-request-id']]).to.deep.equal([503, 'mine']);
    await until(() =>
      haproxy.requests.some(({ requestId, status }) => requestId === 'mine' && status === 503),
    );
  });

  it('has the id of a request in its log and in that of the service, and repeats none that is not well-formed', async () => {
    const [port] = await start(1);
    for (const sent of ['mine', 'my"{<id', 'x'.repeat(65)]) {
      const { headers } = await new HttpClient(haproxy.url, 'user0').get('/plants', { 'X-Request-Id': sent });
      const id = headers['x-request-id'] as string;
      expect(id === sent).to.equal(sent === 'mine');
      await until(() => haproxy.requests.some(({ requestId }) => requestId === id));
      expect(services.get(port!)!.log.join('')).to.contain(`"requestId":"${id}"`);
    }
  });

  it('answers requests that it cannot parse as the service, from version 3.2 on', async () => {
    await start(1);
    const version = /version (\d+\.\d+)/.exec(execFileSync('haproxy', ['-v']).toString())![1]!;
    for (const request of [
      'GET /pla nts HTTP/1.1\r\nHost: a\r\n\r\n',
      'POST /plants HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\nConnection: close\r\n\r\n0\r\n\r\n',
    ]) {
      const answer = await exchangeRaw(request);
      expect(answer).to.match(/^HTTP\/1.1 4(?:00|22) /);
      expect(answer).not.to.contain('gzip').and.not.to.contain('pla nts');
      if (Number(version) >= 3.2)
        expect(answer).to.contain(`\r\n\r\n${JSON.stringify(body('malformedHttp'))}`);
    }
  });

  it('serves others while clients send their bodies slowly', async () => {
    const [port] = await start(1, { maxconn: 4 });
    const slow: Socket[] = [];
    for (let i = 0; i < 40; i++) {
      const socket = connect(Number(new URL(haproxy.url).port), '127.0.0.1');
      socket.write(
        'POST /plants HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer x\r\nContent-Length: 9\r\n\r\n{',
      );
      slow.push(socket);
    }
    await Promise.all(slow.map((socket) => once(socket, 'connect')));
    const answers = await Promise.all(USERS.map((user) => new HttpClient(haproxy.url, user).list()));
    expect(answers.map(({ status }) => status)).to.deep.equal(USERS.map(() => 200));
    expect(services.get(port!)!.log.join('')).not.to.contain('"status":401');
    for (const socket of slow) socket.destroy();
  });

  it('fails no request if an instance ends while the other one starts slowly', async () => {
    const [first, second] = (await start(2)) as [number, number];
    await until(() => haproxy.ups === 0);
    await stop(second);
    await until(() => haproxy.downs === 1);
    await serve(second);
    await until(() => haproxy.ups === 1);
    const kept = services.get(first)!;
    services.delete(first);
    const stopped = kept.stop();
    const statuses = new Set<number>();
    for (let i = 0; i < 20; i++)
      for (const { status } of await Promise.all(
        USERS.map((user) => new HttpClient(haproxy.url, user).list()),
      ))
        statuses.add(status);
    await stopped;
    expect([...statuses]).to.deep.equal([200]);
  });

  it('sends all requests of a user of JWTs to one instance, and those of a token', async () => {
    await start(2);
    const jwt = (user: string, jti: string) =>
      new SignJWT({ jti })
        .setProtectedHeader({ alg: 'HS256' })
        .setSubject(user)
        .setIssuer('issuer')
        .setAudience('plants')
        .setExpirationTime('1m')
        .sign(new TextEncoder().encode(SECRET));
    const serversOf = async (user: string, tokens: readonly string[]) => {
      const before = haproxy.requests.length;
      for (const token of tokens)
        expect((await new HttpClient(haproxy.url, user, token).list()).status).to.equal(200);
      await until(() => haproxy.requests.length >= before + tokens.length);
      return new Set(haproxy.requests.slice(before).map(({ server }) => server));
    };
    const used = new Set<string>();
    for (const user of USERS) {
      const ofUser = await serversOf(user, [
        await jwt(user, 'a'),
        await jwt(user, 'b'),
        await jwt(user, 'c'),
      ]);
      expect(ofUser, user).to.have.length(1);
      used.add([...ofUser][0]!);
      expect(await serversOf(user, [tokenOf(user), tokenOf(user)])).to.have.length(1);
    }
    expect(used).to.have.length(2);
  });
});

function body(problem: keyof typeof PROBLEMS) {
  const { error, message } = PROBLEMS[problem];
  return { error, message };
}
