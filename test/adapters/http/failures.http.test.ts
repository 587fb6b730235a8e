/** Failures of the event store and of parts of another author, and how clients learn of them. */
import { writeFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { createAdminApp } from '../../../src/adapters/http';
import { retryAfterSeconds } from '../../../src/adapters/http/middleware/errors';
import { parseNewPlant } from '../../../src/adapters/http/new-plant';
import { MemoryEventStore } from '../../../src/adapters/memory';
import { OutcomeUnknown, StoreUnavailable } from '../../../src/event-sourcing';
import { HttpClient } from '../../support/client';
import { RawSocket, errorOf } from '../../support/raw-socket';
import { JSON_TYPE, LIST, request } from '../../support/requests';
import { SlowStore } from '../../support/served';
import { temporaryDirectory } from '../../support/temporary-directory';
import { until } from '../../support/until';
import { appWith, servedPerTest } from './app-with';

/** What is reported, by the number of the response. */
const REASONS = { 50000: 'bug', 50300: 'store', 50301: 'unknown_outcome' };
const SECRET = 'secret of the store';

describe('An error of the event store', () => {
  const serve = servedPerTest();

  for (const [Failure, errors] of [
    [StoreUnavailable, { create: 50300, rejected: 50300, delete: 50300, list: 50300 }],
    [OutcomeUnknown, { create: 50301, delete: 50301, list: 50300 }],
    [TypeError, { list: 50000 }],
  ] as const)
    it(`of the class ${Failure.name} is reported, and answered by the kind of request without its text`, async () => {
      const store = new MemoryEventStore();
      const app = appWith({}, store);
      const client = new HttpClient(await serve(app));
      await client.plants([1, 'Fern']);
      const send = {
        create: () => client.create(2, 'Moss'),
        rejected: () => client.create(1, 'x'),
        delete: () => client.delete(1),
        list: () => client.list(),
      };
      const { read, append } = store;
      const fail = () => Promise.reject(new Failure(SECRET));
      for (const [what, error] of Object.entries<keyof typeof REASONS>(errors)) {
        Object.assign(store, { read: fail, append: fail });
        const answer = await send[what as keyof typeof send]();
        expect(answer, what).to.include({ status: Math.floor(error / 100), error });
        expect(answer.text).not.to.contain(SECRET).and.not.to.contain('TypeError');
        expect(app.reports.at(-1)!.reason, what).to.equal(REASONS[error]);
        expect(app.reports.at(-1)!.cause, what).to.be.instanceOf(Error);
        Object.assign(store, { read, append });
        expect(await client.names(), 'serves again').to.deep.equal(['Fern']);
      }
    });

  it('is answered with Retry-After: its own time or one second, plus a jitter of up to a quarter', () => {
    const seen = [undefined, 1001, 10_000].map((ms) =>
      [0, 0.4, 0.99].map((random) => retryAfterSeconds(ms, () => random)).join(' '),
    );
    expect(seen).to.deep.equal(['1 1 2', '2 2 3', '10 11 12']);
  });
});

describe('A part that another author provides', () => {
  const pathOf = temporaryDirectory();
  const serve = servedPerTest();

  it('is read again by the next request if it could not be read: a file of the docs', async () => {
    const app = appWith({ swaggerUi: pathOf('') });
    const client = new HttpClient(await serve(app));
    const file = () => client.get('/docs/swagger-ui.css');
    expect((await file()).error).to.equal(50000);
    expect(app.reports[0]!.cause).to.have.property('code', 'ENOENT');
    writeFileSync(pathOf('swagger-ui.css'), 'a {}');
    expect(await file()).to.include({ status: 200, text: 'a {}' });
  });

  it('may report that it is ready only for reads, with the reasons', async () => {
    const works = { reads: true, writes: false, reasons: ['writes_refused'] };
    const client = new HttpClient(await serve(appWith({ ready: async () => works })));
    expect(JSON.parse((await client.get('/health/ready')).text)).to.deep.equal({
      status: 'ready',
      ...works,
    });
  });

  it('may return each result of an authentication directly, or as any kind of promise', async () => {
    for (const [found, status, reason] of [
      ['alice', 200, undefined],
      [undefined, 401, 'token_unknown'],
      [{ reason: 'expired' }, 401, 'token_expired'],
    ] as const)
      for (const way of [
        'found',
        'Promise.resolve(found)',
        '({ then: (resolve) => resolve(found) })',
      ]) {
        const authenticate = () => runInNewContext(way, { found }) as undefined;
        const app = appWith({ authenticator: { authenticate } });
        const client = new HttpClient(await serve(app));
        expect((await client.list()).status, way).to.equal(status);
        expect(app.reports[0]!.reason, way).to.equal(reason);
      }
  });
});

describe('A report that throws', () => {
  const serve = servedPerTest();
  const report = () => {
    throw new Error('the disk of the log is full');
  };

  it('does not change the response to a request', async () => {
    const client = new HttpClient(await serve(appWith({ report })));
    expect(await client.create(1, 'Fern')).to.include({ status: 200, text: '{"name":"Fern"}' });
    expect((await client.create(1, 'Fern')).error).to.equal(40003);
  });

  it('does not change the responses of the admin app', async () => {
    const contentType = 'text/plain; version=0.0.4; charset=utf-8';
    const metrics = { contentType, text: async () => 'a 1' };
    const ready = async () => ({ reads: true, writes: true });
    const client = new HttpClient(await serve(createAdminApp({ metrics, ready, report })));
    expect(await client.get('/metrics')).to.include({ status: 200, text: 'a 1' });
  });

  it('does not end the process because of bytes that are not a request', async () => {
    const client = await RawSocket.open(await serve(appWith(), { report }));
    expect(errorOf(await client.send('BAD\r\n\r\n').answer())).to.equal(40000);
  });

  it('does not end the process because of a request that is malformed and waits', async () => {
    const store = Object.assign(new SlowStore(), { delayMs: Infinity });
    const client = await RawSocket.open(await serve(appWith({}, store), { report }));
    const malformed = request('POST', '/plants', `${JSON_TYPE}Transfer-Encoding: chunked\r\n`);
    client.send(`${LIST}${malformed}zz\r\n`);
    await until(() => store.trips > 0);
    store.delayMs = 0;
    const { answers } = await client.answers();
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 400]);
  });
});

describe('A bug', () => {
  const serve = servedPerTest();

  it('in the parser of a body is not answered as a malformed body', () => {
    const { parse } = JSON;
    JSON.parse = () => {
      throw new TypeError('a bug');
    };
    try {
      const body = Buffer.from('{"id":1,"name":"Fern"}');
      expect(() => parseNewPlant(body)).to.throw(TypeError, 'a bug');
    } finally {
      JSON.parse = parse;
    }
  });

  it('that throws a value other than an Error is answered, and emitted as an Error', async () => {
    const authenticate = () => runInNewContext("Promise.reject('a text')") as undefined;
    const app = appWith({ authenticator: { authenticate }, report: undefined as never });
    const emitted: unknown[] = [];
    app.on('error', (error) => emitted.push(error));
    expect((await new HttpClient(await serve(app)).list()).error).to.equal(50000);
    expect(emitted.map(String)).to.deep.equal(['Error: a text']);
  });
});
