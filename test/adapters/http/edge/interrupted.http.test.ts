/**
 * Requests whose client breaks HTTP, falls silent or goes while they are served: none may look like
 * a fault of the service.
 */
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import type Koa from 'koa';
import bodyParser from 'koa-bodyparser';
import { type HttpServer, listen } from '../../../../src/adapters/http';
import { type User, parseUser } from '../../../../src/application';
import { RawSocket } from '../../../support/raw-socket';
import { JSON_TYPE, LIST, create, request } from '../../../support/requests';
import { SlowStore } from '../../../support/served';
import { until } from '../../../support/until';
import { appWith } from '../app-with';

const ALICE = parseUser('alice')!;
const CHUNKED = `${JSON_TYPE}Transfer-Encoding: chunked\r\n`;
/** A whole plant, but not the whole body. */
const begun = (method: string, target: string) =>
  `${request(method, target, `${CHUNKED}X-Request-Id: mine\r\n`)}16\r\n{"id":1,"name":"Fern"}\r\n`;

/** What middleware behind the app does with a request to `/other` after it was interrupted. */
const AFTERWARDS: Readonly<Record<string, (ctx: Koa.Context) => unknown>> = {
  'then answers through Node': (ctx) => {
    ctx.respond = false;
    ctx.res.writeHead(200, { 'X-Other': 'value' });
    ctx.res.write('one');
    ctx.res.end('two');
  },
  'then answers with an object': (ctx) => (ctx.body = { a: 1 }),
  'then answers with a stream': (ctx) => (ctx.body = Readable.from(['one', 'two'])),
  'then throws an error of Koa': (ctx) => ctx.throw(409, 'gone'),
  'then throws an error of Node': ({ res }) =>
    new Promise<void>((resolve, reject) =>
      res.write('one', (error) => (error ? reject(error) : resolve())),
    ),
  'then reads the body': (ctx) => text(ctx.req),
};
/** What it does before. */
const BEFORE: typeof AFTERWARDS = {
  'is reading the body': ({ req }) => text(req),
  'is parsing the body': async (ctx) => {
    await bodyParser()(ctx, async () => {});
  },
};

/**
 * How the client interrupts a request within its body, and the status that it gets and that is
 * reported.
 */
const INTERRUPTIONS: Readonly<Record<string, readonly [(client: RawSocket) => unknown, number?]>> =
  {
    'a malformed chunk': [(client) => client.send('zz\r\n'), 400],
    'a half-close': [(client) => client.finish(), 400],
    silence: [() => {}, 408],
    'a reset': [(client) => client.reset()],
  };

const WITHDRAWN = { create: create(2), delete: request('DELETE', '/plants/2'), list: LIST };

describe('A request that its client interrupts', () => {
  const store = new SlowStore();
  let user: User | Promise<User> = ALICE;
  const app = appWith({ authenticator: { authenticate: () => user } }, store);
  const { reports } = app;
  const errors: unknown[] = [];
  let server: HttpServer;
  let middleware: (ctx: Koa.Context, interrupted: Promise<void>) => unknown;
  let started = 0;
  let interrupt = () => {};

  before(async () => {
    // As Koa's own listener does.
    app.on('error', (error: { expose?: boolean }) => error.expose || errors.push(error));
    app.use(async (ctx, next) => {
      if (ctx.path === '/other') started++;
      const over = new Promise<void>((resolve) => (interrupt = resolve));
      await (ctx.path === '/other' ? middleware(ctx, over) : next());
    });
    server = await listen(app, {
      requestTimeoutMs: 1000,
      report: (each) => void reports.push(each),
    });
  });
  after(() => server.close({ noticeMs: 0, timeoutMs: 1000 }));
  beforeEach(() => {
    for (const list of [reports, errors]) list.length = 0;
    started = store.trips = store.delayMs = 0;
  });
  const open = () => RawSocket.open(`http://127.0.0.1:${server.port}`);

  /**
   * Sends the start of a request, interrupts it once it `isServed`, and resolves when it is
   * reported, not as a fault.
   */
  async function interrupted(bytes: string, isServed: () => boolean, way: string): Promise<void> {
    const [how, status] = INTERRUPTIONS[way]!;
    const client = (await open()).send(bytes);
    await until(isServed);
    how(client);
    const { answers } = await client.answers().catch(() => ({ answers: [] }));
    interrupt();
    store.delayMs = 0;
    await until(() => reports.length > 0);
    expect(reports.map(({ cause }) => cause)).to.deep.equal([undefined]);
    expect(errors).to.deep.equal([]);
    if (status === undefined) return;
    expect(answers.map((answer) => answer.status)).to.deep.equal([status]);
    expect(answers[0]!.fields.get('x-request-id')).to.equal('mine');
    expect(reports[0]).to.include({ status, requestId: 'mine', errorNumber: status * 100 });
    expect(reports[0]!.path).to.match(/^\/(?:plants|other)/);
  }

  for (const way of Object.keys(INTERRUPTIONS)) {
    for (const method of ['GET', 'HEAD'])
      it(`by ${way} is not reported as a fault: ${method}`, async () => {
        store.delayMs = Infinity;
        await interrupted(begun(method, '/plants'), () => store.trips > 0, way);
      });

    for (const [method, target] of Object.entries({ POST: '/plants', DELETE: '/plants/1' }))
      it(`by ${way} is not executed, and not reported as a fault: ${method}`, async () => {
        await interrupted(begun(method, target), () => server.connections() > 0, way);
        expect(store.trips).to.equal(0);
      });

    // Silence takes two seconds, and ends as a malformed chunk does.
    for (const [what, act] of Object.entries(
      way === 'silence' ? BEFORE : { ...BEFORE, ...AFTERWARDS },
    ))
      it(`by ${way} is not reported as a fault if middleware ${what}`, async () => {
        middleware = async (ctx, over) => {
          if (!(what in BEFORE)) await over;
          await act(ctx);
        };
        await interrupted(begun('POST', '/other'), () => started > 0, way);
      });
  }

  it('is reported together with its error response, before the connection closes', async () => {
    const client = await open();
    client.send(request('POST', '/plants', `${CHUNKED}Expect: 100-continue\r\n`));
    // Its body is being read.
    await client.answer();
    expect((await client.send('zz\r\n').answer()).status).to.equal(400);
    expect(reports.map(({ status }) => status)).to.deep.equal([400]);
    await client.ended();
  });

  for (const [what, earlier] of Object.entries({
    '': '',
    ', even if it waits behind another request': LIST,
  }))
    it(`is reported with the request ID of its response${what}`, async () => {
      if (earlier) store.delayMs = Infinity;
      const client = await open();
      const begin = request('POST', '/plants', CHUNKED);
      client.send(`${earlier}${begin}zz\r\n`);
      if (earlier) await until(() => store.trips > 0);
      store.delayMs = 0;
      const { answers } = await client.answers();
      await until(() => reports.length >= answers.length);
      const refused = reports.filter(({ status }) => status === 400);
      const requestId = answers.at(-1)!.fields.get('x-request-id');
      expect(refused.map((each) => each.requestId)).to.deep.equal([requestId]);
      expect(refused[0]).to.include({ method: 'POST', path: '/plants', errorNumber: 40000 });
    });

  it('is reported even if it still waits for its turn when its connection closes', async () => {
    const clients = await Promise.all(Array.from({ length: 100 }, open));
    await until(() => server.connections() === clients.length);
    for (const client of clients) client.send(`${begun('POST', '/plants')}zz\r\n`).socket.destroy();
    await until(() => server.connections() === 0 && reports.length >= clients.length);
    expect(reports).to.have.length(clients.length);
  });

  for (const [what, bytes] of Object.entries(WITHDRAWN))
    it(`is withdrawn while it waits for an earlier request of its user, and has no effect: ${what}`, async () => {
      store.delayMs = Infinity;
      await until(() => server.connections() === 0);
      const [first, gone, later] = await Promise.all([open(), open(), open()]);
      first.send(create(1));
      await until(() => store.trips === 1);
      gone.send(bytes);
      // What was sent before has been started when these are answered.
      for (let times = 0; times < 2; times++) await later.send(request('GET', '/')).answer();
      gone.reset();
      await until(() => server.connections() === 2);
      store.delayMs = 0;
      await first.answer();
      await until(() => reports.length === 4);
      const failures = reports.map(({ cause, errorNumber }) => cause ?? errorNumber);
      expect(failures.filter((failure) => failure !== undefined)).to.have.members([40000]);
      expect(store.trips).to.equal(1);
      await first.send(request('DELETE', '/plants/1')).answer();
      for (const client of [first, later]) client.reset();
      await until(() => server.connections() === 0);
    });

  it('is not executed if its body is complete and its user known only after the 408 response', async () => {
    let know!: (known: User) => void;
    user = new Promise((resolve) => (know = resolve));
    const client = await open();
    const whole = create(1);
    expect((await client.send(whole.slice(0, -1)).answer()).status).to.equal(408);
    await client.send(whole.slice(-1)).ended();
    know(ALICE);
    await until(() => reports.length > 0);
    user = ALICE;
    expect([reports[0]!.status, reports[0]!.cause, store.trips]).to.deep.equal([408, undefined, 0]);
  });
});
