import { execSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { Agent, type IncomingMessage, type Server, createServer, request } from 'node:http';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { FAILURES } from '../../src/adapters/http/failures';
import { HttpClient } from '../support/client';
import { describePrograms } from '../support/programs';
import { freePort, listenLocally } from '../support/ports';
import { TestProcess } from '../support/service-process';
import { temporaryDirectory } from '../support/temporary-directory';
import { tokenOf } from '../support/token';
import { until } from '../support/until';
import { startWatched } from '../support/watched-service';

const bodyOf = ({ error, message }: { error: number; message: string }) =>
  JSON.stringify({ error, message });

describePrograms({ haproxy: 'haproxy' }, 'The proxy of deploy/haproxy.cfg', () => {
  const path = temporaryDirectory();
  let url: string;
  let proxy: TestProcess;
  /** `method port` of each request that a fake instance received. */
  let received: string[] = [];
  /** What the fake instances answer; 0 to break off. */
  let status = 200;
  /** A line for users that are refused. */
  let refused = '';
  const servers: Server[] = [];

  /** Starts the proxy in front of instances at these ports. */
  async function start(...ports: readonly number[]): Promise<void> {
    const port = await freePort();
    const configuration = readFileSync('deploy/haproxy.cfg', 'utf8')
      .replace(/^resolvers docker\n(?: .*\n)+/m, '')
      .replace(/(?<=^ *errorfile \d+ )/gm, `${resolve('deploy')}/`)
      .replace('bind :8080', `bind 127.0.0.1:${port}`)
      .replace(/(?=^ *errorfile 400)/m, `  ${refused}\n`)
      .replace(/slowstart \w+|init-addr none resolvers docker/g, '')
      .replace(
        /server-template .*/,
        ports.map((each) => `server s${each} 127.0.0.1:${each}`).join('\n  '),
      );
    writeFileSync(path('haproxy.cfg'), configuration);
    proxy = new TestProcess(spawn('haproxy', ['-db', '-f', path('haproxy.cfg')]));
    url = `http://127.0.0.1:${port}/plants`;
    await until(async () => (await send().catch(() => undefined))?.statusCode !== undefined);
    received = [];
  }

  /** A ready instance that answers with `status`. */
  async function fake(): Promise<number> {
    const server = createServer(({ method, url, socket }, response) => {
      if (url === '/health/ready') return response.end();
      received.push(`${method} ${socket.localPort}`);
      if (status === 0) return socket.destroy();
      return response.writeHead(status).end();
    });
    servers.push(server);
    return listenLocally(server);
  }

  /**
   * On a connection of its own: HAProxy closes one that it has used if an instance breaks off, for
   * the client to repeat.
   */
  async function send(method = 'GET', token = 'any'): Promise<IncomingMessage> {
    const sent = request(url, {
      method,
      agent: false,
      headers: { Authorization: `Bearer ${token}` },
    }).end();
    return ((await once(sent, 'response')) as [IncomingMessage])[0];
  }

  afterEach(() => {
    status = 200;
    refused = '';
    void proxy.kill();
    for (const server of servers.splice(0)) server.close().closeAllConnections();
  });

  it('forwards requests, answers them itself if no instance is ready, and logs the ID of each request', async () => {
    const port = await freePort();
    const service = await startWatched({
      PORT: String(port),
      AUTH_TOKENS: `alice:${tokenOf('alice')}`,
    });
    await start(port);
    // The client checks each response against the OpenAPI document.
    const alice = new HttpClient(new URL(url).origin);
    expect((await alice.create(1, 'Fern')).status).to.equal(200);
    const { names, headers } = await alice.get('/plants', { 'X-Request-Id': 'mine' });
    expect([names, headers['x-request-id']]).to.deep.equal([['Fern'], 'mine']);
    expect(service.log.join('')).to.contain('"requestId":"mine"');
    await service.stop();
    await until(async () => (await alice.list()).error === 50300);
    await until(() => proxy.out.includes('"requestId":"mine","method":"GET","status":200'));
  });

  it('repeats a list on another instance, but no write', async () => {
    await start(await fake(), await fake());
    for (status of [503, 0])
      for (const [method, calls] of Object.entries({ POST: 1, DELETE: 1, GET: 3 })) {
        received = [];
        const answer = await send(method);
        expect(answer.statusCode).to.equal(503);
        if (status === 0) expect(await text(answer)).to.equal(bodyOf(FAILURES.outcomeUnknown));
        expect(received, method).to.have.length(calls);
      }
  });

  it('closes a reused connection without a response or a log line if the instance breaks it off', async () => {
    await start(await fake());
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const again = async (id: string) => {
      const headers = { Authorization: 'Bearer any', 'X-Request-Id': id };
      const sent = request(url, { method: 'POST', agent, headers }).end();
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      await text(response);
      return response.statusCode;
    };
    expect(await again('first')).to.equal(200);
    status = 0;
    const outcome = await again('second').catch(
      (error: unknown) => (error as NodeJS.ErrnoException).code,
    );
    expect(outcome).to.equal('ECONNRESET');
    expect(received).to.have.length(2);
    status = 200;
    expect(await again('third')).to.equal(200);
    await until(() => proxy.out.includes('"third"'));
    expect(proxy.out)
      .to.match(/\{"time":"\d\d\/\w{3}\/\d{4}:[\d:.]+",.*"requestId":"first"/)
      .and.not.contain('"second"');
  });

  it('sends all requests of a user to one instance, by the subject of a JWT or by the token', async () => {
    await start(await fake(), await fake());
    const part = (json: object) => Buffer.from(JSON.stringify(json)).toString('base64url');
    const used = new Set<string>();
    for (let user = 0; user < 16; user++) {
      const jwts = [1, 2].map(
        (jti) => `${part({ alg: 'HS256' })}.${part({ sub: `user${user}`, jti })}.c2ln`,
      );
      for (const tokens of [jwts, [`token-${user}`, `token-${user}`]]) {
        received = [];
        for (const token of tokens) await send('GET', token);
        expect(new Set(received)).to.have.length(1);
        used.add(received[0]!);
      }
    }
    expect(used).to.have.length(2);
  });

  it('refuses the user of a JWT with the line of docs/runbook.md', async () => {
    const [, deny] = /`(http-request deny [^`]+)`/.exec(readFileSync('docs/runbook.md', 'utf8'))!;
    refused = deny!;
    await start(await fake());
    const part = (json: object) => Buffer.from(JSON.stringify(json)).toString('base64url');
    const statusOf = async (sub: string) =>
      (await send('GET', `${part({ alg: 'HS256' })}.${part({ sub })}.c2ln`)).statusCode;
    expect([await statusOf('alice'), await statusOf('bob')]).to.deep.equal([429, 200]);
  });

  it('answers errors with the same bodies as the service', () => {
    const texts = execSync('cat deploy/haproxy.cfg deploy/haproxy-errors/*', { encoding: 'utf8' });
    expect(Object.values(FAILURES).map(bodyOf)).to.include.members(texts.match(/\{"error".*?\}/g)!);
  });
});
