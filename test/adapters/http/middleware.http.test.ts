/** The HTTP adapter as a Koa application with other middleware, under other servers and under `listen`. */
import { dirname } from 'node:path';
import { once } from 'node:events';
import { type IncomingMessage, type Server, createServer, get } from 'node:http';
import { type AddressInfo, Server as NetServer } from 'node:net';
import { Readable } from 'node:stream';
import cors from '@koa/cors';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import Koa from 'koa';
import bodyParser from 'koa-bodyparser';
import compress from 'koa-compress';
import helmet from 'koa-helmet';
import mount from 'koa-mount';
import request from 'supertest';
import {
  type AppOptions,
  type HttpServer,
  type RequestReport,
  createApp,
  listen,
} from '../../../src/adapters/http';
import { LeanKoa } from '../../../src/adapters/http/app/koa';
import { MemoryEventStore } from '../../../src/adapters/memory';
import { system } from '../../../src/adapters/system';
import { PlantStore, parseUser } from '../../../src/application';
import type { EventStore } from '../../../src/event-sourcing';
import { RawSocket } from '../../support/raw-socket';
import { rejection } from '../../support/rejection';
import { AUTH, JSON_TYPE, LIST, request as bytesOf } from '../../support/requests';

const ALICE = parseUser('alice')!;
const BEARER = { Authorization: AUTH.replace(/^Authorization: |\r\n$/g, '') };

/** The app on a memory store, where every token speaks for one user. */
function appWith(options: Partial<AppOptions> = {}, store: EventStore = new MemoryEventStore()): Koa {
  const plants = new PlantStore({ ...system(), store });
  const swaggerUi = dirname(require.resolve('swagger-ui-dist/package.json'));
  const authenticator = { authenticate: () => ALICE };
  return createApp({ plants, authenticator, swaggerUi, report: () => {}, ...options });
}

/** An application that runs `middleware` in front of the app. */
function withMiddleware(middleware: Koa.Middleware, app = appWith()): Koa {
  return new Koa().use(middleware).use(mount(app));
}

/** A server of Node, which listens on a free port. */
function serverOf(app: Koa): Server {
  const handle = app.callback();
  return createServer((asked, answer) => void handle(asked, answer)).listen(0, '127.0.0.1');
}

const create = (app: Koa, id: number, name: string, at = '') =>
  request(app.callback()).post(`${at}/plants`).set(BEARER).send({ id, name }).expect(200);
const list = (app: Koa, path = '/plants') => request(app.callback()).get(path).set(BEARER);

describe('The app, mounted with koa-mount,', () => {
  const mounted = (prefix: string) => new Koa().use(mount(prefix, appWith()));

  it('links to its pages and documents under its path', async () => {
    const app = mounted('/v1');
    for (const root of ['/v1', '/v1/']) {
      const { body, text } = await request(app.callback()).get(root).expect(200);
      expect(body).to.include({ docs: '/v1/docs', openapi: '/v1/openapi.json' });
      expect(text).not.to.contain('"/docs"');
    }
    const page = await request(app.callback()).get('/v1').set('Accept', 'text/html').expect(200);
    const links = [...page.text.matchAll(/<a href="([^"]+)"/g)].map(([, link]) => link!);
    expect(links).to.deep.equal(['/v1/docs', '/v1/openapi.json', '/v1/health/ready']);
    for (const link of links) await request(app.callback()).get(link).expect(200);
    const odd = await request(mounted("/a&'").callback()).get("/a&'").set('Accept', 'text/html').expect(200);
    expect(odd.text).to.contain('<a href="/a&#38;&#39;/docs">');
  });

  it('has its mount path in the OpenAPI document, also with several mount paths', async () => {
    const app = appWith();
    const both = new Koa().use(mount('/v1', app)).use(mount('/v2', app));
    for (const at of ['/v1', '/v2', '/v1']) {
      const { body } = await request(both.callback()).get(`${at}/openapi.json`).expect(200);
      const { servers, paths } = body as { servers: { url: string }[]; paths: object };
      expect(servers[0]!.url).to.equal(at);
      // The app has no metrics.
      expect(paths).to.include.keys('/plants', '/docs').and.not.to.have.any.keys('/metrics');
      await request(both.callback()).get(`${at}/metrics`).expect(404);
    }
  });

  it('serves the docs page and its files', async () => {
    const app = mounted('/v1');
    const { text } = await request(app.callback()).get('/v1/docs').expect(200);
    const files = [...text.matchAll(/(?:href|src)="(?!data:)([^"]+)"/g)].map(([, file]) => file!);
    expect(files).to.have.length(4);
    for (const file of files) {
      const { pathname } = new URL(file, 'http://localhost/v1/docs');
      await request(app.callback()).get(pathname).expect(200);
    }
  });

  it('links with the complete path if mounts are nested, and for an absolute target', async () => {
    const app = new Koa().use(mount('/api', mounted('/v1')));
    await create(app, 1, 'Fern', '/api/v1');
    await create(app, 2, 'Moss', '/api/v1');
    const { headers } = await list(app, '/api/v1/plants?limit=1').expect(200);
    expect(headers['link']).to.match(/^<\/api\/v1\/plants\?limit=1&cursor=/);

    const server = serverOf(app);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const sent = get({ port, path: 'http://plants.example/api/v1/plants?limit=1', headers: BEARER });
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    expect(answer.headers.link).to.equal(headers['link']);
    answer.resume();
    server.close().closeAllConnections();
  });

  it('passes other paths to the next middleware', async () => {
    const app = new Koa().use(mount('/v1', appWith())).use((ctx) => void (ctx.body = 'mine'));
    expect((await request(app.callback()).get('/v10/plants')).text).to.equal('mine');
    await request(app.callback()).get('/v1/plants').expect(401);
  });
});

describe('The server of the app', () => {
  it('keeps running if it cannot accept a connection, and emits the error on the app', async () => {
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
    const server = await listen(app).finally(() => (NetServer.prototype.listen = original));
    const full = Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' });
    // As Node does.
    opened!.emit('error', full);
    expect(errors).to.deep.equal([full]);
    expect((await fetch(`http://${server.host}:${server.port}/health/live`)).status).to.equal(200);
    await server.close({ noticeMs: 0, timeoutMs: 1000 });
  });
});

describe('Middleware in front of the app', () => {
  it('may be @koa/cors, which answers preflights and adds its fields to all other responses', async () => {
    const app = withMiddleware(cors({ origin: 'https://garden.example', exposeHeaders: 'ETag,Link' }));
    const origin = { Origin: 'https://garden.example' };
    const preflight = await request(app.callback())
      .options('/plants')
      .set({ ...origin, 'Access-Control-Request-Method': 'POST' })
      .expect(204);
    expect(preflight.headers).to.include({ 'access-control-allow-origin': 'https://garden.example' });
    expect(preflight.headers).not.to.have.property('allow');

    for (const [answer, status] of [
      [list(app), 200],
      [request(app.callback()).get('/plants'), 401],
      [request(app.callback()).get('/nothing'), 404],
    ] as const) {
      const { headers } = await answer.set(origin).expect(status);
      expect(headers['access-control-allow-origin']).to.equal('https://garden.example');
      expect(headers['access-control-expose-headers']).to.equal('ETag,Link');
    }
    const { headers } = await list(app).set(origin);
    expect(headers['vary']!.split(', ')).to.have.members(['Origin', 'Authorization']);
  });

  it('may be koa-helmet, which adds its fields and keeps the policy of the app', async () => {
    const app = withMiddleware(helmet());
    const answer = await list(app).expect(200);
    expect(answer.headers).to.include.keys('strict-transport-security', 'x-frame-options');
    expect(answer.headers).to.include({
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, no-cache',
    });
    const docs = await request(app.callback()).get('/docs').expect(200);
    expect(docs.headers['content-security-policy']).to.match(
      /^default-src 'none'; img-src 'self' data:; script-src 'self'/,
    );
  });

  it('may be koa-compress, which compresses long bodies and does not change 304 and 204', async () => {
    const app = withMiddleware(compress({ threshold: 1024 }));
    for (let id = 1; id <= 50; id++) await create(app, id, `a plant with a long name, number ${id}`);
    const plain = await list(app).set('Accept-Encoding', 'identity').expect(200);
    const zipped = await list(app).set('Accept-Encoding', 'gzip').expect(200);
    expect(plain.headers).not.to.have.property('content-encoding');
    expect(zipped.headers['content-encoding']).to.equal('gzip');
    expect(zipped.headers).not.to.have.property('content-length');
    expect(zipped.body).to.deep.equal(plain.body).and.to.have.length(50);
    expect(zipped.headers['vary']).to.contain('Authorization').and.to.contain('Accept-Encoding');

    await list(app).set('If-None-Match', zipped.headers['etag']!).set('Accept-Encoding', 'gzip').expect(304);
    await request(app.callback()).delete('/plants/1').set(BEARER).set('Accept-Encoding', 'gzip').expect(204);
    expect((await list(app).set('Accept-Encoding', 'gzip')).body).to.have.length(49);
  });

  it('may be a body parser, whose text the app uses', async () => {
    const app = withMiddleware(bodyParser());
    await create(app, 1, 'Fern');
    const exact = '{"id":9007199254740993,"name":"Moss"}';
    const post = () =>
      request(app.callback()).post('/plants').set(BEARER).type('application/json').send(exact);
    await post().expect(200);
    expect((await post().expect(400)).body).to.have.property('error', 40003);
    expect((await list(app)).body).to.deep.equal([{ name: 'Fern' }, { name: 'Moss' }]);
  });

  it('must not read the body without passing it on: a request is then reported as a fault', async () => {
    const reports: RequestReport[] = [];
    const app = withMiddleware(
      async (ctx, next) => {
        ctx.req.resume();
        await once(ctx.req, 'end');
        await next();
      },
      appWith({ report: (each) => reports.push(each) }),
    );
    const post = request(app.callback()).post('/plants').set(BEARER).send({ id: 1, name: 'Fern' });
    expect((await post.expect(500)).body).to.have.property('error', 50000);
    expect(reports[0]?.error).to.have.property('message', 'middleware in front has read the body');
    expect(reports[0]?.error).to.have.property('cause').that.is.instanceOf(Error);
  });

  it('may answer requests itself', async () => {
    const reports: RequestReport[] = [];
    const app = withMiddleware(
      (ctx) => {
        ctx.status = 503;
        ctx.body = { closed: 'for the winter' };
      },
      appWith({ report: (each) => reports.push(each) }),
    );
    const { body } = await list(app).expect(503);
    expect(body).to.deep.equal({ closed: 'for the winter' });
    expect(reports).to.deep.equal([]);
  });

  it('may rewrite the path, which is then in no link', async () => {
    const app = withMiddleware((ctx, next) => {
      ctx.path = '/plants';
      return next();
    });
    for (const id of [1, 2]) await create(app, id, 'Fern');
    expect((await list(app, '/mine?limit=1').expect(200)).headers['link']).to.match(/^<\/plants\?limit=1&/);
  });

  it('can read and change status and body of every response of the app', async () => {
    const seen: [number, unknown][] = [];
    const app = withMiddleware(async (ctx, next) => {
      await next();
      const { body } = ctx as { body: unknown };
      seen.push([ctx.status, Buffer.isBuffer(body) ? String(body) : body]);
      ctx.set('X-Seen', String(seen.length));
    });
    expect((await create(app, 1, 'Fern')).headers['x-seen']).to.equal('1');
    await list(app).expect(200).expect('X-Seen', '2');
    await request(app.callback()).delete('/plants/1').set(BEARER).expect(204).expect('X-Seen', '3');
    await request(app.callback()).get('/nothing').expect(404).expect('X-Seen', '4');
    expect(seen).to.deep.equal([
      [200, '{"name":"Fern"}'],
      [200, '[{"name":"Fern"}]'],
      [204, undefined],
      [404, '{"error":40400,"message":"there is nothing at this path"}'],
    ]);
  });
});

describe('Middleware after the app', () => {
  it('gets the requests that the app does not know, and no others', async () => {
    const app = appWith();
    app.use((ctx, next) => {
      if (ctx.path !== '/hello') return next();
      ctx.body = { answer: 'by middleware' };
      return undefined;
    });
    const { body, headers } = await request(app.callback()).get('/hello').expect(200);
    expect(body).to.deep.equal({ answer: 'by middleware' });
    expect(headers).to.include.keys('x-request-id');
    expect((await request(app.callback()).get('/nothing').expect(404)).body).to.have.property('error', 40400);
    await request(app.callback()).put('/plants').set(BEARER).expect(405);
  });

  it('may throw an HTTP error of Koa, which is reported', async () => {
    const reports: RequestReport[] = [];
    const app = appWith({ report: (each) => reports.push(each) });
    app.on('error', () => {});
    app.use((ctx) => (ctx.path === '/mine' ? ctx.throw(500, 'secret') : ctx.throw(403, 'not yours')));
    expect((await request(app.callback()).get('/other').expect(403)).text).to.equal('not yours');
    expect((await request(app.callback()).get('/mine').expect(500)).text).to.equal('Internal Server Error');
    expect(reports.map(({ status, error }) => [status, (error as Error | undefined)?.message])).to.deep.equal(
      [
        [403, undefined],
        [500, 'secret'],
      ],
    );
  });

  it('causes a 500/50000 if it throws another error', async () => {
    const app = appWith();
    app.use(() => {
      throw new TypeError('a bug');
    });
    expect((await request(app.callback()).get('/other').expect(500)).body).to.have.property('error', 50000);
  });

  for (const [what, body, text] of [
    ['an object', { a: 1 }, '{"a":1}'],
    ['a stream', () => Readable.from(['one ', 'two']), 'one two'],
    ['a text', 'text', 'text'],
    ['a Buffer', Buffer.from('bytes'), 'bytes'],
    ['a status without a body', undefined, 'OK'],
  ] as const) {
    it(`may answer with ${what}`, async () => {
      const app = appWith();
      app.use((ctx) => {
        ctx.status = 200;
        if (body !== undefined) ctx.body = typeof body === 'function' ? body() : body;
      });
      for (const path of ['/other', '/another']) {
        const answer = await request(app.callback()).get(path).buffer(true).expect(200);
        expect((answer.text as string | undefined) ?? String(answer.body)).to.equal(text);
        expect((await request(app.callback()).head(path).expect(200)).text).to.equal(undefined);
      }
    });
  }

  it('may answer with null, which is a 204', async () => {
    const app = appWith();
    app.use((ctx) => void (ctx.body = null));
    expect((await request(app.callback()).get('/other').expect(204)).headers).not.to.have.property(
      'content-length',
    );
  });

  it('may answer with a stream, which is not read for a HEAD', async () => {
    const app = appWith();
    let read = false;
    app.use((ctx) => void (ctx.body = new Readable({ read: () => (read = true) })));
    await request(app.callback()).head('/other').expect(200);
    expect(read).to.equal(false);
  });

  it('resets its response if the stream has failed before', async () => {
    const app = appWith();
    app.use(async (ctx) => {
      const body = Readable.from(['one']);
      ctx.body = body;
      body.destroy();
      await once(body, 'close');
    });
    const asked = request(app.callback()).get('/other').then();
    expect(await rejection(asked)).to.have.property('code', 'ECONNRESET');
  });

  it('may answer without Koa', async () => {
    const app = appWith();
    app.use((ctx) => {
      ctx.respond = false;
      ctx.res.end('by hand');
    });
    expect((await request(app.callback()).get('/other')).text).to.equal('by hand');
  });
});

describe('The app under a server of Node', () => {
  let server: Server | undefined;
  afterEach(() => server?.close().closeAllConnections());

  async function serve(app: Koa): Promise<string> {
    const started = (server = serverOf(app));
    await once(started, 'listening');
    return `http://127.0.0.1:${(started.address() as AddressInfo).port}`;
  }

  it('answers HEAD for a long list with the length of its text', async () => {
    const app = appWith();
    for (let id = 1; id <= 12; id++) await create(app, id, 'x'.repeat(10_000));
    const { text } = await list(app).expect(200);
    const { headers } = await request(app.callback()).head('/plants').set(BEARER).expect(200);
    expect(headers).to.include({ 'content-length': String(text.length), 'content-type': 'application/json' });
  });

  it('lets Node send 100 Continue, once', async () => {
    const url = await serve(appWith());
    const client = await RawSocket.open(url);
    client.send(bytesOf('POST', '/plants', `${JSON_TYPE}Expect: 100-continue\r\nContent-Length: 22\r\n`));
    expect((await client.answer()).status).to.equal(100);
    client.send('{"id":1,"name":"Fern"}');
    expect((await client.answer()).status).to.equal(200);
    client.reset();
  });

  it('counts a user’s requests until they are answered', async () => {
    const url = await serve(appWith({ maxUserRequests: 1 }));
    for (let i = 0; i < 5; i++) {
      const answer = await fetch(`${url}/plants`, { headers: BEARER });
      expect(answer.status).to.equal(200);
      await answer.arrayBuffer();
    }
  });

  it('emits a fault of the service as an error of the app if there is no report', async () => {
    const store = new MemoryEventStore();
    store.read = () => Promise.reject(new TypeError('a bug'));
    const plants = new PlantStore({ ...system(), store });
    const app = createApp({ plants, authenticator: { authenticate: () => ALICE } });
    const errors: unknown[] = [];
    app.on('error', (error) => errors.push(error));
    await list(app).expect(500);
    await list(app, '/plants?limit=x').expect(400);
    expect(errors.map(String)).to.deep.equal(['TypeError: a bug']);
  });
});

describe('An application around the app, under listen,', () => {
  let server: HttpServer | undefined;
  afterEach(() => server?.close({ noticeMs: 0, timeoutMs: 1000 }));

  it('drains like the app: readiness fails, and each response closes its connection', async () => {
    server = await listen(withMiddleware(cors()));
    const url = `http://127.0.0.1:${server.port}`;
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
    expect(server.host).to.equal('127.0.0.1');
    const plants = `http://127.0.0.1:${server.port}/plants`;
    const headers = { ...BEARER, 'Content-Type': 'application/json' };
    const long = JSON.stringify({ id: 1, name: 'x'.repeat(70_000) });
    const tooLong = await fetch(plants, { method: 'POST', headers, body: long });
    expect([tooLong.status, ((await tooLong.json()) as { error: number }).error]).to.deep.equal([413, 41300]);
    const listed = await fetch(plants, { headers });
    expect([listed.status, await listed.text()]).to.deep.equal([200, '[]']);
  });

  it('counts one request of a connection at a time, however many are sent at once', async () => {
    server = await listen(appWith({ maxUserRequests: 1 }));
    const client = await RawSocket.open(`http://127.0.0.1:${server.port}`);
    client.send(LIST.repeat(3));
    for (let i = 0; i < 3; i++) expect((await client.answer()).status).to.equal(200);
    client.reset();
  });

  for (const [what, id] of [
    ['the request id that it has set', 'of-the-application'],
    ['a request id', undefined],
  ] as const)
    it(`refuses a body that does not arrive with ${what}, and with none of its other fields`, async () => {
      const app = new Koa();
      app.use(async (context) => {
        context.set('X-Other', 'value');
        if (id) context.set('X-Request-Id', id);
        await text(context.req);
      });
      app.silent = true;
      server = await listen(app, { requestTimeoutMs: 300 });
      const client = await RawSocket.open(`http://127.0.0.1:${server.port}`);
      client.send('POST /plants HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{');
      const { status, fields } = await client.answer();
      expect(status).to.equal(408);
      expect(fields.get('x-request-id')).to.match(id ? /^of-the-application$/ : /^[\w-]{36}$/);
      expect(fields.has('x-other')).to.equal(false);
      client.reset();
    });
});

describe('What the app overrides of Koa', () => {
  const settings: readonly (readonly [what: string, set: (ctx: Koa.Context) => void])[] = [
    ['a field', (ctx) => ctx.set('X-One', 'text')],
    ['a field of the response', (ctx) => ctx.response.set('X-One', 'text')],
    ['a field twice', (ctx) => ['one', 'two'].forEach((value) => ctx.set('X-One', value))],
    ['an empty value', (ctx) => ctx.set('X-One', '')],
    ['several lines', (ctx) => ctx.set('X-One', ['one', 'two'])],
    ['a number', (ctx) => ctx.set('X-One', 7 as never)],
    ['several fields', (ctx) => ctx.set({ 'X-One': '1', 'X-Two': '2' })],
    ['a field without a name', (ctx) => ctx.set('', 'text')],
    [
      'a field of a response that was sent',
      (ctx) => {
        ctx.res.flushHeaders();
        ctx.set('X-One', 'late');
      },
    ],
    [
      'a field after it was appended to',
      (ctx) => {
        ctx.append('X-One', 'one');
        ctx.set('X-One', 'two');
      },
    ],
    ['a value that is no header', (ctx) => ctx.set('X-One', 'two\nlines')],
  ];
  for (const [what, set] of settings) {
    it(`sets ${what} as Koa does`, async () => {
      const [own, koas] = [new LeanKoa(), new Koa()];
      const seen = [];
      for (const app of [own, koas]) {
        app.silent = true;
        app.use((ctx) => {
          set(ctx);
          ctx.body = 'body';
        });
        const { status, headers, text } = await request(app.callback()).get('/');
        delete headers['date'];
        seen.push({ status, headers, text });
      }
      expect(seen[0]).to.deep.equal(seen[1]);
    });
  }

  it('is there: handleRequest, with the context and the composed middleware', async () => {
    const { handleRequest } = Koa.prototype as unknown as { handleRequest: (...args: unknown[]) => unknown };
    expect(handleRequest).to.be.a('function').with.lengthOf(2);
    let given: unknown[] = [];
    class Watched extends Koa {
      handleRequest(...args: unknown[]): unknown {
        given = args;
        return handleRequest.apply(this, args);
      }
    }
    await request(new Watched().use((ctx) => void (ctx.body = 'x')).callback())
      .get('/')
      .expect(200);
    expect(given).to.have.length(2);
    expect(given[0]).to.have.property('res');
    expect(given[1]).to.be.a('function');
  });

  for (const [how, error] of [
    ['fails', new Error('no more')],
    ['ends too early', undefined],
  ] as const) {
    it(`resets the connection of a stream that ${how}, and reports only a failure`, async () => {
      const app = new LeanKoa();
      const reported: unknown[] = [];
      app.on('error', (fault) => reported.push(fault));
      app.use((ctx) => {
        const body = new Readable({ read: () => {} });
        body.push('one ');
        ctx.body = body;
        setImmediate(() => body.destroy(error));
      });
      const server = serverOf(app);
      try {
        await once(server, 'listening');
        const { port } = server.address() as AddressInfo;
        const text = fetch(`http://127.0.0.1:${port}`).then((answer) => answer.text());
        expect(await text.catch(() => 'reset')).to.equal('reset');
        expect(reported).to.deep.equal(error ? [error] : []);
      } finally {
        server.close();
      }
    });
  }
});
