/** Requests whose client breaks HTTP, falls silent or goes while they are served: none may look like a fault of the service. */
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { expect } from 'chai';
import type Koa from 'koa';
import bodyParser from 'koa-bodyparser';
import { type HttpServer, type RequestReport, createApp, listen } from '../../../../src/adapters/http';
import { system } from '../../../../src/adapters/system';
import { PlantStore, type User, parseUser } from '../../../../src/application';
import { RawSocket } from '../../../support/raw-socket';
import { JSON_TYPE, create, request } from '../../../support/requests';
import { SlowStore } from '../../../support/slow-store';
import { until } from '../../../support/until';

const ALICE = parseUser('alice')!;
const CHUNKED = `${JSON_TYPE}Transfer-Encoding: chunked\r\n`;

type Middleware = (ctx: Koa.Context, interrupted: Promise<unknown>) => unknown;

/** What middleware behind the app does with `/other` once its request was interrupted, or until then. */
const MIDDLEWARE: Readonly<Record<string, Middleware>> = {
  'sets a field by Node': async ({ res }, interrupted) => {
    await interrupted;
    res.setHeader('X-Other', 'value').appendHeader('X-Other', 'value');
    res.removeHeader('X-Other');
  },
  'answers by Node': async (ctx, interrupted) => {
    ctx.respond = false;
    await interrupted;
    ctx.res.writeHead(200, { 'X-Other': 'value' });
    ctx.res.write('one');
    ctx.res.end('two');
  },
  'answers with a text': async (ctx, interrupted) => {
    await interrupted;
    ctx.body = 'text';
  },
  'answers with an object': async (ctx, interrupted) => {
    await interrupted;
    ctx.body = { a: 1 };
  },
  'answers with a stream': async (ctx, interrupted) => {
    await interrupted;
    ctx.body = Readable.from(['one', 'two']);
  },
  'pipes a stream': async (ctx, interrupted) => {
    ctx.respond = false;
    await interrupted;
    await pipeline(Readable.from(['one', 'two']), ctx.res);
  },
  'throws an error of Koa': async (ctx, interrupted) => {
    await interrupted;
    ctx.throw(409, 'gone');
  },
  'reads the body': ({ req }) => text(req),
  'throws the error of Node': async (ctx, interrupted) => {
    await interrupted;
    await new Promise<void>((resolve, reject) =>
      ctx.res.write('one', (error) => (error ? reject(error) : resolve())),
    );
  },
  'reads the body afterwards': async ({ req }, interrupted) => {
    await interrupted;
    await text(req);
  },
  'parses the body': async (ctx) => {
    await bodyParser()(ctx, async () => {});
  },
};

const REQUESTS: Readonly<Record<string, readonly [method: string, target: string]>> = {
  'a GET': ['GET', '/plants'],
  'a HEAD': ['HEAD', '/plants?limit=1'],
  'a POST': ['POST', '/plants'],
  'a DELETE': ['DELETE', '/plants/1'],
};

/** How the client interrupts a request within its body, and the statuses that it gets and that are reported. */
const INTERRUPTIONS: Readonly<Record<string, readonly [(client: RawSocket) => unknown, number | undefined]>> =
  {
    'a malformed chunk': [(client) => client.send('zz\r\n'), 400],
    'an end of its side': [(client) => client.finish(), 400],
    silence: [() => {}, 408],
    'a reset': [(client) => client.reset(), undefined],
  };

describe('A request that its client interrupts', () => {
  let server: HttpServer;
  const store = new SlowStore();
  const reports: RequestReport[] = [];
  const errors: unknown[] = [];
  let user: User | Promise<User> = ALICE;
  let openAtReport = 0;
  let middleware: Middleware | undefined;
  let started = 0;
  let interrupt = () => {};

  before(async () => {
    const plants = new PlantStore({ ...system(), store });
    const report = (each: RequestReport) => {
      reports.push(each);
      openAtReport = server.connections();
    };
    const authenticator = { authenticate: () => user };
    const app = createApp({ plants, authenticator, report });
    // As Koa's own listener does.
    app.on('error', (error: { expose?: boolean }) => error.expose || errors.push(error));
    app.use((ctx, next) => {
      if (ctx.path !== '/other') return next();
      const interrupted = new Promise<void>((resolve) => (interrupt = resolve));
      started++;
      return middleware!(ctx, interrupted) as Promise<void>;
    });
    server = await listen(app, { requestTimeoutMs: 1000 });
  });
  after(() => server.close({ noticeMs: 0, timeoutMs: 1000 }));
  beforeEach(() => {
    for (const list of [reports, errors]) list.length = 0;
    started = store.trips = 0;
  });
  afterEach(() => void (store.delayMs = 0));

  /** Sends the start of a request, interrupts it once `isServed`, and resolves when it is reported. */
  async function interrupted(
    bytes: string,
    isServed: () => boolean,
    [how, status]: (typeof INTERRUPTIONS)[string],
  ): Promise<void> {
    const client = await RawSocket.open(`http://127.0.0.1:${server.port}`);
    client.send(bytes);
    await until(isServed);
    how(client);
    const { answers } = await client.answers().catch(() => ({ answers: [] }));
    if (status !== undefined) expect(answers.map((answer) => answer.status)).to.deep.equal([status]);
    interrupt();
    store.delayMs = 0;
    await until(() => reports.length > 0);
    expect(reports.map(({ error }) => error)).to.deep.equal([undefined]);
    if (status !== undefined) {
      expect(reports[0]!.status).to.equal(status);
      expect(reports[0]!.requestId).to.equal(answers[0]!.fields.get('x-request-id'));
    }
  }

  for (const [way, interruption] of Object.entries(INTERRUPTIONS)) {
    for (const [what, [method, target]] of Object.entries(REQUESTS))
      it(`by ${way} is no fault: ${what}`, async () => {
        store.delayMs = 60_000;
        const isList = target.startsWith('/plants') && ['GET', 'HEAD'].includes(method);
        const isServed = () => (isList ? store.trips > 0 : server.connections() > 0);
        await interrupted(request(method, target, CHUNKED), isServed, interruption);
        expect(errors).to.deep.equal([]);
      });

    for (const [what, each] of Object.entries(MIDDLEWARE))
      it(`by ${way} is no fault: middleware that ${what}`, async () => {
        middleware = each;
        await interrupted(request('POST', '/other', CHUNKED), () => started > 0, interruption);
        expect(errors).to.deep.equal([]);
      });
  }

  it('is reported before its connection is closed', async () => {
    const client = await RawSocket.open(`http://127.0.0.1:${server.port}`);
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
    const client = await RawSocket.open(`http://127.0.0.1:${server.port}`);
    const whole = create(1);
    expect((await client.send(whole.slice(0, -1)).answer()).status).to.equal(408);
    await client.send(whole.slice(-1)).ended();
    know(ALICE);
    await until(() => reports.length > 0);
    user = ALICE;
    expect([reports[0]!.status, reports[0]!.error, store.trips]).to.deep.equal([408, undefined, 0]);
  });
});
