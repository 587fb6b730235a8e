/** The app under a server of Node, and other applications under `listen`. */
import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import { type AddressInfo, Server as NetServer } from 'node:net';
import { text } from 'node:stream/consumers';
import cors from '@koa/cors';
import { expect } from 'chai';
import Koa from 'koa';
import mount from 'koa-mount';
import request from 'supertest';
import { type HttpServer, listen } from '../../../src/adapters/http';
import { MemoryEventStore } from '../../../src/adapters/memory';
import { RawSocket } from '../../support/raw-socket';
import { JSON_TYPE, LIST, request as bytesOf } from '../../support/requests';
import { BEARER, appWith, create, list } from './app-with';

describe('The app under a server of Node', () => {
  let server: Server | undefined;
  afterEach(() => server?.close().closeAllConnections());

  async function serve(app: Koa): Promise<string> {
    const handle = app.callback();
    server = createServer((asked, answer) => void handle(asked, answer)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  it('answers HEAD for a long list without a length', async () => {
    const app = appWith();
    for (let id = 1; id <= 12; id++) await create(app, id, 'x'.repeat(10_000));
    const { headers } = await request(app.callback()).head('/plants').set(BEARER).expect(200);
    expect(headers)
      .to.include({ 'content-type': 'application/json' })
      .and.not.to.have.property('content-length');
  });

  it('lets Node send 100 Continue, once, and counts requests of a user until they are answered', async () => {
    const client = await RawSocket.open(await serve(appWith({ maxUserRequests: 1 })));
    client.send(bytesOf('POST', '/plants', `${JSON_TYPE}Expect: 100-continue\r\nContent-Length: 22\r\n`));
    expect((await client.answer()).status).to.equal(100);
    expect((await client.send('{"id":1,"name":"Fern"}').answer()).status).to.equal(200);
    for (let i = 0; i < 5; i++) expect((await client.send(LIST).answer()).status).to.equal(200);
    client.reset();
  });

  it('ends a short response without the step of Koa that watches it by on-finished', async () => {
    const watched: boolean[] = [];
    const app = appWith();
    app.use(({ path, res }, next) => {
      res.once('close', () => watched.push('__onFinished' in res));
      return path === '/other' ? Object.assign(res, { statusCode: 200 }) : next();
    });
    await request(app.callback()).get('/nothing').expect(404);
    await request(app.callback()).get('/other').expect(200, 'OK');
    expect(watched).to.deep.equal([false, true]);
  });

  it('emits a fault of the service as an error of the app if there is no report', async () => {
    const store = new MemoryEventStore();
    store.read = () => Promise.reject(new TypeError('a bug'));
    const app = appWith({ report: undefined as never }, store);
    const errors: unknown[] = [];
    app.on('error', (error) => errors.push(error));
    await list(app).expect(500);
    await list(app, '/plants?limit=x').expect(400);
    expect(errors.map(String)).to.deep.equal(['TypeError: a bug']);
  });
});

describe('An application under listen', () => {
  let server: HttpServer | undefined;
  afterEach(() => server?.close({ noticeMs: 0, timeoutMs: 1000 }));
  const urlOf = ({ port }: HttpServer) => `http://127.0.0.1:${port}`;

  it('drains like the app: readiness fails, and each response closes its connection', async () => {
    server = await listen(new Koa().use(cors()).use(mount(appWith())));
    const url = urlOf(server);
    const ready = async () => {
      const answer = await fetch(`${url}/health/ready`);
      await answer.arrayBuffer();
      return [answer.status, answer.headers.get('connection')];
    };
    expect(await ready()).to.deep.equal([200, 'keep-alive']);
    const closed = server.close({ noticeMs: 200, timeoutMs: 1000 });
    expect(await ready()).to.deep.equal([503, 'close']);
    expect(await closed).to.equal(true);
    server = undefined;
  });

  it('treats an undefined option as absent', async () => {
    // As a caller in JavaScript passes it: `{ maxConnections: process.env.LIMIT }`.
    const unset = { bodyLimit: undefined, maxUserRequests: undefined, storeTimeoutMs: undefined };
    const unsetToo = { host: undefined, maxConnections: undefined, requestTimeoutMs: undefined };
    server = await listen(appWith(unset as never), unsetToo as never);
    const body = JSON.stringify({ id: 1, name: 'x'.repeat(70_000) });
    const headers = { ...BEARER, 'Content-Type': 'application/json' };
    const plants = `${urlOf(server)}/plants`;
    expect((await fetch(plants, { method: 'POST', headers, body })).status).to.equal(413);
    expect(await (await fetch(plants, { headers })).text()).to.equal('[]');
  });

  for (const id of ['of-the-application', undefined])
    it(`is refused a late body with ${id ?? 'a new request id'}, and with none of the fields that it has set`, async () => {
      const app = new Koa();
      app.use(async (context) => {
        context.set('X-Other', 'value');
        if (id) context.set('X-Request-Id', id);
        await text(context.req);
      });
      app.silent = true;
      server = await listen(app, { requestTimeoutMs: 300 });
      const client = await RawSocket.open(urlOf(server));
      client.send('POST /plants HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{');
      const { status, fields } = await client.answer();
      expect(status).to.equal(408);
      expect(fields.get('x-request-id')).to.match(id ? /^of-the-application$/ : /^[\w-]{36}$/);
      expect(fields.has('x-other')).to.equal(false);
      client.reset();
    });

  it('keeps running if the system cannot accept a connection, and emits the error', async () => {
    const app = appWith();
    const errors: unknown[] = [];
    app.on('error', (error: unknown) => errors.push(error));
    let opened: NetServer | undefined;
    const { listen: original } = NetServer.prototype;
    NetServer.prototype.listen = function (this: NetServer, ...args: unknown[]) {
      // eslint-disable-next-line @typescript-eslint/no-this-alias -- the only way to get the server
      opened = this;
      return (original as (...args: unknown[]) => NetServer).apply(this, args);
    };
    server = await listen(app).finally(() => (NetServer.prototype.listen = original));
    const full = Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' });
    // As Node does.
    opened!.emit('error', full);
    expect(errors).to.deep.equal([full]);
    expect((await fetch(`${urlOf(server)}/health/live`)).status).to.equal(200);
  });
});
