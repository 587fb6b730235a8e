/**
 * The app beside other middleware, under a server of Node, and for pages of other origins; other
 * applications under `listen`.
 */
import { once } from 'node:events';
import { type IncomingMessage, type Server, createServer, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { Readable } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import Router from '@koa/router';
import Koa from 'koa';
import bodyParser from 'koa-bodyparser';
import mount from 'koa-mount';
import { serve as serveApp } from '../../../src/adapters/http';
import { HTTP_DEFAULTS } from '../../../src/adapters/http/options';
import { MemoryEventStore } from '../../../src/adapters/memory';
import { system } from '../../../src/adapters/system';
import { PlantStore, parseUser } from '../../../src/application';
import { BEGINNING } from '../../../src/event-sourcing';
import { HttpClient } from '../../support/client';
import { created, encoded, plantStreamOf } from '../../support/given';
import { RawSocket } from '../../support/raw-socket';
import { rejection } from '../../support/rejection';
import { JSON_TYPE, LIST, create, request as bytesOf } from '../../support/requests';
import { SlowStore } from '../../support/served';
import { temporaryDirectory } from '../../support/temporary-directory';
import { tokenOf } from '../../support/token';
import { until } from '../../support/until';
import { startWatched } from '../../support/watched-service';
import { appWith, ask, servedPerTest } from './app-with';

const GARDEN = 'https://garden.example';
const FERN = '{"id":1,"name":"Fern"}';
const errorOf = ({ text }: { readonly text: string }) =>
  (JSON.parse(text) as { error: number }).error;

describe('The app beside other middleware', () => {
  const serve = servedPerTest();
  /** Serves an application that runs `middleware` in front of the app. */
  const front = (middleware: Koa.Middleware, app: Koa = appWith()) =>
    serve(Object.assign(new Koa(), { silent: true }).use(middleware).use(mount(app)));
  /** Serves the app, with middleware after it that gets the requests that the app does not know. */
  async function followedBy(middleware: Koa.Middleware) {
    const app = appWith();
    app.use(middleware as never);
    const emitted: unknown[] = [];
    app.on('error', (error) => emitted.push(error));
    return { url: await serve(app), reports: app.reports, emitted };
  }

  it('works under a mount path: its links are relative, and it passes other paths on', async () => {
    const app = new Koa().use(mount('/v1', appWith())).use((ctx) => void (ctx.body = 'mine'));
    const url = `${await serve(app)}/v1`;
    expect((await ask(`${url}/openapi.json`)).text).to.contain('"servers":[{"url":".",');
    // The app has no metrics.
    expect((await ask(`${url}/metrics`)).text).to.equal('mine');
    const page = await ask(`${url}/docs`);
    const files = [...page.text.matchAll(/(?:href|src)="(?!data:)([^"]+)"/g)].map(
      ([, file]) => file!,
    );
    expect(files).to.have.length(4);
    for (const file of files)
      expect((await ask(new URL(file, `${url}/docs`).href)).text).not.to.be.oneOf(['', 'mine']);
    expect((await ask(`${url}0/plants`)).text).to.equal('mine');
  });

  it('passes an unknown path on, even if an outer router has matched it', async () => {
    const outer = new Router().all('/v1{/*rest}', mount('/v1', appWith()) as never);
    const app = new Koa()
      .use(outer.routes() as Koa.Middleware)
      .use((ctx) => void (ctx.body = 'mine'));
    const url = `${await serve(app)}/v1`;
    expect((await ask(`${url}/nothing`)).text).to.equal('mine');
    const { status, headers } = await ask(`${url}/plants`, { method: 'PUT' });
    expect({ status, allow: headers['allow'] }).to.deep.equal({
      status: 405,
      allow: 'GET, HEAD, POST, OPTIONS',
    });
  });

  it('answers 50000 if a store or an authenticator throws an error with a status', async () => {
    const refuse = () => Promise.reject(Object.assign(new Error('no'), { status: 404 }));
    const stranger = appWith({ authenticator: { authenticate: refuse } });
    const plants = new PlantStore({ ...system(), store: { read: refuse, append: refuse } });
    for (const app of [stranger, appWith({ plants })])
      expect(errorOf(await ask(`${await serve(app)}/plants`))).to.equal(50000);
  });

  it('keeps the header fields that earlier middleware has set, and adds its own', async () => {
    const url = await front((ctx, next) => {
      ctx.set({ 'X-Other': 'value', 'Content-Security-Policy': 'none', Vary: 'Origin' });
      return next();
    });
    for (const [path, expected] of Object.entries({
      '/plants': { vary: 'Origin, Authorization', 'cache-control': 'private, no-cache' },
      '/plants?limit=x': { vary: 'Origin', 'cache-control': 'no-store' },
      '/docs': { 'x-content-type-options': 'nosniff' },
    })) {
      const { headers } = await ask(url + path);
      expect(headers).to.include({ ...expected, 'x-other': 'value' });
      expect(headers['content-security-policy'] === 'none').to.equal(path !== '/docs');
    }
  });

  it('lets earlier middleware read and change every response, for example compress it', async () => {
    const url = await front(async (ctx, next) => {
      await next();
      ctx.vary('Accept-Encoding');
      if (ctx.body === undefined) return;
      ctx.set('Content-Encoding', 'gzip');
      const body = gzipSync(String(ctx.body));
      ctx.body = ctx.path === '/plants' ? Readable.from([body]) : body;
    });
    expect((await ask(`${url}/plants`, { method: 'POST', body: FERN })).text).to.equal(
      '{"name":"Fern"}',
    );
    const list = await ask(`${url}/plants`);
    expect(list.headers).to.include({
      'content-encoding': 'gzip',
      vary: 'Authorization, Accept-Encoding',
    });
    expect(list.headers).not.to.have.property('content-length');
    const known = { 'If-None-Match': list.headers['etag']! };
    expect(await ask(`${url}/plants`, { headers: known })).to.include({ status: 304, text: '' });
  });

  it('stops counting a request when its connection closes, even behind one of other middleware', async () => {
    const app = appWith({ maxUserRequests: 1 });
    let isClosed = false;
    const url = await front(async ({ path, req }, next) => {
      if (path === '/slow') await new Promise((resolve) => req.socket.on('close', resolve));
      else await next();
      isClosed ||= path === '/slow';
    }, app);
    const client = await RawSocket.open(url);
    client.send(bytesOf('GET', '/slow') + LIST);
    await until(() => app.reports.length > 0);
    client.reset();
    await until(() => isClosed);
    await until(async () => (await ask(`${url}/plants`)).status === 200);
  });

  for (const [what, [expected, middleware]] of Object.entries<[string, Koa.Middleware]>({
    'an error of Koa removes the header fields': ['close', (ctx) => ctx.throw(403)],
    'middleware asks to keep it open': [
      'keep-alive',
      (ctx) => {
        ctx.set('Connection', 'keep-alive');
        ctx.body = 'mine';
      },
    ],
  }))
    it(`closes a connection after the response to an upgrade, even if ${what}`, async () => {
      const { url } = await followedBy(middleware);
      for (const each of [url, await front(middleware)]) {
        const client = await RawSocket.open(each);
        client.send(bytesOf('GET', '/other', 'Connection: Upgrade\r\nUpgrade: h2c\r\n'));
        expect(await client.ended()).to.equal('end');
        expect(client.unread).to.contain(`\r\nConnection: ${expected}\r\n`);
      }
    });

  it('uses the original text of a body that an earlier body parser has read', async () => {
    const url = await front(bodyParser());
    const post = (body: string) => ask(`${url}/plants`, { method: 'POST', body });
    for (const id of ['9007199254740992', '9007199254740993'])
      expect((await post(`{"id":${id},"name":"Fern"}`)).status).to.equal(200);
    expect(errorOf(await post('{"id":9007199254740993,"name":"Fern"}'))).to.equal(40003);
  });

  it('answers 50000 and reports the cause if other middleware has read the body and not kept it', async () => {
    const app = appWith();
    const url = await front(async (ctx, next) => {
      ctx.req.resume();
      await once(ctx.req, 'end');
      await next();
    }, app);
    expect(await new HttpClient(url).create(1, 'Fern')).to.include({ error: 50000 });
    expect(app.reports[0]?.cause).to.have.property(
      'message',
      'another middleware has already read the body',
    );
    expect(app.reports[0]?.cause).to.have.property('cause').that.is.instanceOf(Error);
  });

  it('passes unknown requests on to later middleware, and lets Koa answer its own errors', async () => {
    const { url, reports, emitted } = await followedBy((ctx, next) => {
      if (ctx.path === '/bug') throw new TypeError('a bug');
      if (ctx.path === '/status') throw Object.assign(new Error('no'), { status: 418 });
      if (ctx.path === '/unknown-status') return ctx.throw(499);
      if (ctx.path === '/nothing') return next();
      return ctx.throw(ctx.path === '/mine' ? 500 : 403, 'not yours');
    });
    expect((await ask(`${url}/other`)).text).to.equal('not yours');
    expect((await ask(`${url}/mine`)).text).to.equal('Internal Server Error');
    expect(errorOf(await ask(`${url}/bug`))).to.equal(50000);
    expect(await ask(`${url}/status`)).to.include({ status: 418, text: "I'm a Teapot" });
    expect((await ask(`${url}/unknown-status`)).status).to.equal(500);
    expect(errorOf(await ask(`${url}/nothing`))).to.equal(40400);
    expect((await ask(`${url}/plants`, { method: 'PUT' })).status).to.equal(405);
    const told = reports.map(
      ({ status, cause }) => `${status} ${(cause as Error | undefined)?.message}`,
    );
    expect(told.join()).to.equal(
      '403 undefined,500 undefined,500 a bug,418 undefined,500 undefined,404 undefined,405 undefined',
    );
    // Koa emits its own errors, so these are not reported a second time.
    expect(emitted.map(String)).to.deep.equal([
      'ForbiddenError: not yours',
      'InternalServerError: not yours',
      'Error: no',
      'BadRequestError: Bad Request',
    ]);
  });

  it('reports the request ID that the response contains if Koa answers an error', async () => {
    const { url, reports } = await followedBy((ctx) => ctx.throw(500, 'not yours'));
    for (const headers of [{}, { 'X-Request-Id': 'mine' }]) {
      const answer = await ask(`${url}/other`, { headers });
      expect(answer.headers['x-request-id']).to.equal(reports.at(-1)!.requestId);
    }
    expect(reports.map(({ requestId }) => requestId === 'mine')).to.deep.equal([false, true]);
    expect(reports[0]!.requestId).to.match(/^[0-9a-f-]{36}$/);
  });

  it('lets later middleware answer with anything that Koa can send, or without Koa', async () => {
    for (const [answer, text, status] of [
      [(ctx) => (ctx.body = { a: 1 }), '{"a":1}', 200],
      [(ctx) => (ctx.body = Readable.from(['one ', 'two'])), 'one two', 200],
      [(ctx) => (ctx.body = 'text'), 'text', 200],
      [(ctx) => (ctx.body = Buffer.from('bytes')), 'bytes', 200],
      [() => undefined, 'OK', 200],
      [(ctx) => (ctx.body = null), '', 204],
      [(ctx) => ((ctx.respond = false), ctx.res.end('by hand')), 'by hand', 200],
    ] as [(ctx: Koa.Context) => unknown, string, number][]) {
      const { url } = await followedBy((ctx) => {
        ctx.status = 200;
        answer(ctx);
      });
      expect(await ask(`${url}/other`)).to.include({ status, text });
      expect(await ask(`${url}/other`, { method: 'HEAD' })).to.include({ status, text: '' });
    }
  });

  // `on-finished` marks a response that it watches with this property.
  it('sends a text without watching its response with `on-finished`, which is slow', async () => {
    let response: object = {};
    const { url } = await followedBy((ctx) => {
      response = ctx.res;
      ctx.body = 'text';
    });
    await ask(`${url}/other`);
    expect(response).not.to.have.property('__onFinished');
  });

  it('does not read the stream of a response to HEAD', async () => {
    let read = false;
    const { url } = await followedBy(
      (ctx) => (ctx.body = new Readable({ read: () => (read = true) })),
    );
    expect((await ask(`${url}/other`, { method: 'HEAD' })).status).to.equal(200);
    expect(read).to.equal(false);
  });

  it('emits an Error if a stream fails with a value that is not an Error', async () => {
    const { url, emitted } = await followedBy((ctx) => {
      const body = new Readable({ read: () => setImmediate(() => body.destroy('no' as never)) });
      body.push('one');
      ctx.body = body;
    });
    await rejection(ask(`${url}/other`));
    expect(emitted.map(String)).to.deep.equal(['Error: non-error thrown: "no"']);
  });

  it('resets the connection if the stream of a response was destroyed before it is sent', async () => {
    const { url } = await followedBy(async (ctx) => {
      const body = Readable.from(['one']);
      ctx.body = body;
      body.destroy();
      await once(body, 'close');
    });
    expect(await rejection(ask(`${url}/other`))).to.be.instanceOf(TypeError);
  });
});

describe('The app under a plain server of Node', () => {
  const path = temporaryDirectory();
  let server: Server | undefined;
  afterEach(() => server?.close().closeAllConnections());
  async function serve(app: Koa): Promise<string> {
    server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  it('answers HEAD for a long list without Content-Length', async () => {
    const url = await serve(appWith());
    for (let id = 1; id <= 12; id++) await new HttpClient(url).plants([id, 'x'.repeat(10_000)]);
    const { status, headers } = await ask(`${url}/plants`, { method: 'HEAD' });
    expect(status).to.equal(200);
    expect(headers).to.have.property('content-type', 'application/json');
    expect(headers).not.to.have.property('content-length');
  });

  it('resets a client that reads a long list too slowly, even if it never stops reading', async () => {
    const url = await serve(appWith({ readTimeoutMs: 500 }));
    for (let id = 1; id <= 1000; id++) await new HttpClient(url).plants([id, 'x'.repeat(10_000)]);
    const client = await RawSocket.open(url);
    client.send(LIST).socket.pause();
    // In 30 ms: a quarter of what the limit asks for.
    const reading = setInterval(() => void client.socket.read(1024), 30);
    const [{ socket }] = (await once(server!, 'request')) as [IncomingMessage];
    await once(socket, 'close').finally(() => clearInterval(reading));
    client.socket.resume();
    await client.ended();
    // The system has dropped what it would send otherwise.
    expect(client.unread.length).to.be.below(2 ** 20);
  });

  // Node cannot reset a connection of a Unix socket or of TLS.
  for (const [what, target] of Object.entries({
    'a long list': '/plants',
    'a file of the docs': '/docs/swagger-ui-bundle.js',
  }))
    it(`closes the connection of a client at a Unix socket that does not read ${what}`, async () => {
      const store = new MemoryEventStore();
      const plants = Array.from({ length: 1000 }, (_, id) => created(id, 'x'.repeat(10_000)));
      await store.append(plantStreamOf('alice'), BEGINNING, 'a long list', encoded(...plants));
      const app = appWith({ readTimeoutMs: 200 }, store);
      const handle = app.callback();
      server = createServer((...exchange) => void handle(...exchange)).listen(path('socket'));
      await once(server, 'listening');
      const client = connect(path('socket')).pause();
      client.write(bytesOf('GET', target));
      const [{ socket }] = (await once(server, 'request')) as [IncomingMessage];
      await once(socket, 'close');
      client.destroy();
    });

  it('sends 100 Continue once, and counts the requests of a user until they are answered', async () => {
    const client = await RawSocket.open(await serve(appWith({ maxUserRequests: 1 })));
    client.send(
      bytesOf('POST', '/plants', `${JSON_TYPE}Expect: 100-continue\r\nContent-Length: 22\r\n`),
    );
    expect((await client.answer()).status).to.equal(100);
    expect((await client.send(FERN).answer()).status).to.equal(200);
    for (let i = 0; i < 5; i++) expect((await client.send(LIST).answer()).status).to.equal(200);
    client.reset();
  });

  it('emits a bug of the service as an error event if it has no report function', async () => {
    const store = new MemoryEventStore();
    store.read = () => Promise.reject(new TypeError('a bug'));
    const app = appWith({ report: undefined as never }, store);
    const errors: unknown[] = [];
    app.on('error', (error) => errors.push(error));
    const url = await serve(app);
    for (const query of ['', '?limit=x']) await ask(`${url}/plants${query}`);
    expect(errors.map(String)).to.deep.equal(['TypeError: a bug']);
  });
});

describe('The function serve', () => {
  it('uses the default of each option that is undefined', async () => {
    const plants = new PlantStore({ ...system(), store: new MemoryEventStore() });
    const authenticator = { authenticate: () => parseUser('alice') };
    const missing = Object.fromEntries(Object.keys(HTTP_DEFAULTS).map((name) => [name, undefined]));
    const server = await serveApp({ ...missing, plants, authenticator });
    expect(server.host).to.equal('127.0.0.1');
    const url = `http://127.0.0.1:${server.port}`;
    expect((await ask(`${url}/plants`)).status).to.equal(200);
    const body = ' '.repeat(HTTP_DEFAULTS.bodyLimit + 1);
    expect((await ask(`${url}/plants`, { method: 'POST', body })).status).to.equal(413);
    await server.close({ noticeMs: 0, timeoutMs: 1000 });
  });

  it('closes every connection if it may have none, however it makes room for new ones', async () => {
    const plants = new PlantStore({ ...system(), store: new MemoryEventStore() });
    const authenticator = { authenticate: () => undefined };
    for (const whenFull of ['refuse', 'close-oldest'] as const) {
      const server = await serveApp({ plants, authenticator, maxConnections: 0, whenFull });
      const client = await RawSocket.open(`http://127.0.0.1:${server.port}`);
      await client.ended();
      await server.close({ noticeMs: 0, timeoutMs: 1000 });
    }
  });

  it('reports that the app is not ready while its server drains', async () => {
    const plants = new PlantStore({ ...system(), store: new MemoryEventStore() });
    const server = await serveApp({ plants, authenticator: { authenticate: () => undefined } });
    const closed = server.close({ noticeMs: 200, timeoutMs: 1000 });
    expect((await ask(`http://127.0.0.1:${server.port}/health/ready`)).status).to.equal(503);
    expect(await closed).to.equal(true);
  });
});

describe('A page of another origin', () => {
  const MANY_FIELDS = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`x-${at}`, '']));
  const serve = servedPerTest();

  /** Status, and the fields of CORS: never one that lets a browser send its credentials. */
  async function asked(url: string, method: string, headers: Readonly<Record<string, string>>) {
    const answer = await ask(url, { method, headers });
    const fields = Object.entries(answer.headers).filter(([name]) =>
      /^(?:vary|access-control-)/.test(name),
    );
    return { status: answer.status, ...Object.fromEntries(fields) };
  }

  it('gets a response to its preflight request, without a token, if its origin is allowed', async () => {
    const allowed = {
      status: 204,
      vary: 'Origin',
      'access-control-allow-methods': 'GET,HEAD,POST,DELETE',
      'access-control-allow-headers':
        'Authorization,Content-Type,If-Match,If-None-Match,X-Request-Id,baggage,sentry-trace,traceparent,tracestate',
      'access-control-max-age': '86400',
    };
    const refused = { status: 401, vary: 'Origin' };
    const to = (origin: string) => ({ ...allowed, 'access-control-allow-origin': origin });
    for (const [corsOrigins, origin, expected] of [
      [['https://other.example', GARDEN], GARDEN, to(GARDEN)],
      [[GARDEN], `${GARDEN}.evil.example`, refused],
      [[GARDEN], 'null', refused],
      [[], GARDEN, { status: 401 }],
      [['*'], GARDEN, to('*')],
    ] as const) {
      const url = await serve(appWith({ corsOrigins }));
      const headers = {
        Origin: origin,
        Authorization: '',
        'Access-Control-Request-Method': 'DELETE',
      };
      expect(await asked(`${url}/plants/1`, 'OPTIONS', headers), origin).to.deep.equal(expected);
    }
  });

  it('may read every response, including failures, and the header fields that a client needs', async () => {
    const shared = {
      'access-control-allow-origin': GARDEN,
      'access-control-expose-headers': 'ETag,Link,Retry-After,WWW-Authenticate,X-Request-Id',
    };
    const { url, stop } = await startWatched({ CORS_ORIGINS: `https://other.example, ${GARDEN}` });
    for (const [method, path, origin, expected, more] of [
      ['GET', '/plants', GARDEN, { status: 200, vary: 'Origin, Authorization', ...shared }],
      ['DELETE', '/plants/1', GARDEN, { status: 404, vary: 'Origin', ...shared }],
      // A failure that requests share has kept nothing of the one before.
      ['DELETE', '/plants/1', 'https://evil.example', { status: 404, vary: 'Origin' }],
      ['GET', '/plants', GARDEN, { status: 431, vary: 'Origin', ...shared }, MANY_FIELDS],
    ] as const)
      expect(await asked(url + path, method, { Origin: origin, ...more }), origin).to.deep.equal(
        expected,
      );
    await stop();
  });

  it('may read the failure of a request with a malformed header field or body', async () => {
    const { url, stop } = await startWatched({ CORS_ORIGINS: GARDEN });
    const origin = `Origin: ${GARDEN}\r\n`;
    for (const bytes of [
      bytesOf('GET', '/plants', `${origin}Expect: more\r\n`),
      `${bytesOf('POST', '/plants', `${origin}${JSON_TYPE}Transfer-Encoding: chunked\r\n`)}zz\r\n`,
    ]) {
      const socket = connect(Number(new URL(url).port), '127.0.0.1').setEncoding('utf8');
      const answer = await textOf(socket.end(bytes));
      expect(answer)
        .to.match(/^HTTP\/1\.1 400 .*"error":40000/s)
        .and.contain(`\r\nAccess-Control-Allow-Origin: ${GARDEN}\r\n`);
    }
    await stop();
  });

  it('may read the failure and the request ID of a request that turned out malformed while it waited', async () => {
    const store = new SlowStore();
    const url = await serve(appWith({ corsOrigins: [GARDEN] }, store));
    const fields = `Origin: ${GARDEN}\r\nX-Request-Id: mine\r\n${JSON_TYPE}`;
    const malformed = `${bytesOf('POST', '/plants', `${fields}Transfer-Encoding: chunked\r\n`)}zz\r\n`;
    const open = async () => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1').setEncoding('utf8');
      await once(socket, 'connect');
      return socket;
    };
    const behindAnother = await open();
    // More than start in one turn of the event loop.
    const atOnce = await Promise.all(Array.from({ length: 100 }, open));
    store.delayMs = 60_000;
    behindAnother.write(create(1) + malformed);
    for (const socket of atOnce) socket.write(malformed);
    await until(() => store.trips > 0);
    store.delayMs = 0;
    for (const socket of [behindAnother, ...atOnce]) {
      const text = await textOf(socket);
      expect(text.slice(text.lastIndexOf('HTTP/1.1')))
        .to.match(/^HTTP\/1\.1 400 .*"error":40000/s)
        .and.contain(`\r\nAccess-Control-Allow-Origin: ${GARDEN}\r\n`)
        .and.contain('\r\nX-Request-Id: mine\r\n');
    }
  });

  it('may read the failure of a request that was too slow', async () => {
    const { url, stop } = await startWatched({ CORS_ORIGINS: GARDEN, REQUEST_TIMEOUT_MS: '200' });
    const headers = {
      Origin: GARDEN,
      Authorization: `Bearer ${tokenOf('alice')}`,
      'Content-Length': 5,
    };
    const sent = request(`${url}/plants`, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json' },
    });
    sent.on('error', () => {}).flushHeaders();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    expect(answer.statusCode).to.equal(408);
    expect(answer.headers).to.include({ 'access-control-allow-origin': GARDEN, vary: 'Origin' });
    answer.resume();
    await stop();
  });
});
