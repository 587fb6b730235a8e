/** Requests whose client breaks HTTP, falls silent or goes while they are served: none may look like a fault of the service. */
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import type Koa from 'koa';
import bodyParser from 'koa-bodyparser';
import { type HttpServer, type RequestReport, createApp, listen } from '../../../../src/adapters/http';
import { system } from '../../../../src/adapters/system';
import { PlantStore, type User, parseUser } from '../../../../src/application';
import { RawSocket } from '../../../support/raw-socket';
import { JSON_TYPE, create, request } from '../../../support/requests';
import { SlowStore } from '../../../support/served';
import { until } from '../../../support/until';

const ALICE = parseUser('alice')!;
const CHUNKED = `${JSON_TYPE}Transfer-Encoding: chunked\r\n`;

/** What middleware behind the app does with a request to `/other` after it was interrupted. */
const AFTERWARDS: Readonly<Record<string, (ctx: Koa.Context) => unknown>> = {
  'answers by Node': (ctx) => {
    ctx.respond = false;
    ctx.res.writeHead(200, { 'X-Other': 'value' });
    ctx.res.write('one');
    ctx.res.end('two');
  },
  'answers with an object': (ctx) => (ctx.body = { a: 1 }),
  'answers with a stream': (ctx) => (ctx.body = Readable.from(['one', 'two'])),
  'throws an error of Koa': (ctx) => ctx.throw(409, 'gone'),
  'throws the error of Node': ({ res }) =>
    new Promise<void>((resolve, reject) => res.write('one', (error) => (error ? reject(error) : resolve()))),
  'reads the body': (ctx) => text(ctx.req),
};
/** What it does before. */
const BEFORE: typeof AFTERWARDS = {
  'is reading the body': ({ req }) => text(req),
  'is parsing the body': async (ctx) => {
    await bodyParser()(ctx, async () => {});
  },
};

const REQUESTS: Readonly<Record<string, string>> = {
  'a GET': request('GET', '/plants', CHUNKED),
  'a HEAD': request('HEAD', '/plants?limit=1', CHUNKED),
  'a POST': request('POST', '/plants', CHUNKED),
  'a DELETE': request('DELETE', '/plants/1', CHUNKED),
};

/** How the client interrupts a request within its body, and the statuses that it gets and that are reported. */
const INTERRUPTIONS: Readonly<Record<string, readonly [(client: RawSocket) => unknown, number?]>> = {
  'a malformed chunk': [(client) => client.send('zz\r\n'), 400],
  'an end of its side': [(client) => client.finish(), 400],
  silence: [() => {}, 408],
  'a reset': [(client) => client.reset()],
};

describe('A request that its client interrupts', () => {
  let server: HttpServer;
  const store = new SlowStore();
  const reports: RequestReport[] = [];
  const errors: unknown[] = [];
  let user: User | Promise<User> = ALICE;
  let openAtReport = 0;
  let middleware: (ctx: Koa.Context, interrupted: Promise<void>) => unknown;
  let started = 0;
  let interrupt = () => {};

  before(async () => {
    const report = (each: RequestReport) => {
      reports.push(each);
      openAtReport = server.connections();
    };
    const plants = new PlantStore({ ...system(), store });
    const app = createApp({ plants, authenticator: { authenticate: () => user }, report });
    // As Koa's own listener does.
    app.on('error', (error: { expose?: boolean }) => error.expose || errors.push(error));
    app.use(async (ctx, next) => {
      if (ctx.path !== '/other') {
        await next();
        return;
      }
      started++;
      await middleware(ctx, new Promise<void>((resolve) => (interrupt = resolve)));
    });
    server = await listen(app, { requestTimeoutMs: 1000 });
  });
  after(() => server.close({ noticeMs: 0, timeoutMs: 1000 }));
  beforeEach(() => {
    for (const list of [reports, errors]) list.length = 0;
    started = store.trips = 0;
  });
  afterEach(() => void (store.delayMs = 0));
  const open = () => RawSocket.open(`http://127.0.0.1:${server.port}`);

  /** Sends the start of a request, interrupts it once it `isServed`, and resolves when it is reported, not as a fault. */
  async function interrupted(bytes: string, isServed: () => boolean, way: string): Promise<void> {
    const [how, status] = INTERRUPTIONS[way]!;
    const client = (await open()).send(bytes);
    await until(isServed);
    how(client);
    const { answers } = await client.answers().catch(() => ({ answers: [] }));
    interrupt();
    store.delayMs = 0;
    await until(() => reports.length > 0);
    expect(reports.map(({ error }) => error)).to.deep.equal([undefined]);
    expect(errors).to.deep.equal([]);
    if (status === undefined) return;
    expect(answers.map((answer) => answer.status)).to.deep.equal([status]);
    expect(reports[0]).to.include({ status, requestId: answers[0]!.fields.get('x-request-id') });
  }

  for (const way of Object.keys(INTERRUPTIONS)) {
    for (const [what, bytes] of Object.entries(REQUESTS))
      it(`by ${way} is no fault: ${what}`, async () => {
        store.delayMs = 60_000;
        const isServed = () =>
          (what === 'a GET' || what === 'a HEAD' ? store.trips : server.connections()) > 0;
        await interrupted(bytes, isServed, way);
      });

    // Silence takes two seconds, and ends as a malformed chunk does.
    const middlewares = way === 'silence' ? BEFORE : { ...BEFORE, ...AFTERWARDS };
    for (const [what, act] of Object.entries(middlewares))
      it(`by ${way} is no fault: middleware that ${what}`, async () => {
        middleware = async (ctx, over) => {
          if (!(what in BEFORE)) await over;
          await act(ctx);
        };
        await interrupted(request('POST', '/other', CHUNKED), () => started > 0, way);
      });
  }

  it('is reported before its connection is closed', async () => {
    const client = await open();
    client.send(request('POST', '/plants', `${CHUNKED}Expect: 100-continue\r\n`));
    // Its body is being read.
    await client.answer();
    client.send('zz\r\n');
    await until(() => reports.length > 0);
    expect(openAtReport).to.equal(1);
    await client.ended();
  });

  it('is not executed if the rest of its body arrives after the refusal, and its user is known only then', async () => {
    let know!: (known: User) => void;
    user = new Promise((resolve) => (know = resolve));
    const client = await open();
    const whole = create(1);
    expect((await client.send(whole.slice(0, -1)).answer()).status).to.equal(408);
    await client.send(whole.slice(-1)).ended();
    know(ALICE);
    await until(() => reports.length > 0);
    user = ALICE;
    expect([reports[0]!.status, reports[0]!.error, store.trips]).to.deep.equal([408, undefined, 0]);
  });
});
