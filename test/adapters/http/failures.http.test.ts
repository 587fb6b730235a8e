/** Failures of the event store and of parts of another author, and how clients learn of them. */
import { writeFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { type AppOptions, type HttpServer, type RequestReport, listen } from '../../../src/adapters/http';
import { retryAfterSeconds } from '../../../src/adapters/http/problems';
import { MemoryEventStore } from '../../../src/adapters/memory';
import { BEGINNING, OutcomeUnknown, StoreUnavailable } from '../../../src/event-sourcing';
import { streamName } from '../../../src/testing/a-stream';
import { HttpClient, type HttpResponse } from '../../support/client';
import { created, encoded } from '../../support/given';
import { LongHistory } from '../../support/long-history';
import { temporaryDirectory } from '../../support/temporary-directory';
import { TOKENS, startWatched } from '../../support/watched-service';
import { appWith } from './app-with';

const SECRET = 'secret of the store';

/** The app, served with these parts, and its faults. */
async function serve(options: Partial<AppOptions>, store?: MemoryEventStore) {
  const faults: unknown[] = [];
  const report = ({ error }: RequestReport) => {
    if (error !== undefined) faults.push(error);
  };
  const server: HttpServer = await listen(appWith({ report, ...options }, store));
  return { server, faults, client: new HttpClient(`http://127.0.0.1:${server.port}`, 'alice') };
}

describe('A failure of the event store', () => {
  const SENT: Readonly<Record<string, (client: HttpClient) => Promise<HttpResponse>>> = {
    'a create': (client) => client.create(2, 'Moss'),
    'a create that it would reject': (client) => client.create(1, 'x'),
    'a delete': (client) => client.delete(1),
    'a list': (client) => client.list(),
  };
  for (const [Failure, what, error] of [
    [StoreUnavailable, 'a create', 50300],
    [StoreUnavailable, 'a create that it would reject', 50300],
    [StoreUnavailable, 'a delete', 50300],
    [StoreUnavailable, 'a list', 50300],
    [OutcomeUnknown, 'a create', 50301],
    [OutcomeUnknown, 'a delete', 50301],
    [OutcomeUnknown, 'a list', 50300],
    [TypeError, 'a list', 50000],
  ] as const)
    it(`of the kind ${Failure.name} is answered ${error} to ${what}, without its text`, async () => {
      const store = new MemoryEventStore();
      const { server, client } = await serve({}, store);
      await client.plants([1, 'Fern']);
      const fail = () => Promise.reject(new Failure(SECRET));
      const { read, append } = store;
      Object.assign(store, { read: fail, append: fail });
      const answer = await SENT[what]!(client);
      expect(answer).to.include({ status: Math.floor(error / 100), error });
      expect(answer.text).not.to.contain(SECRET).and.not.to.contain('TypeError');
      Object.assign(store, { read, append });
      expect(await client.names(), 'serves again').to.deep.equal(['Fern']);
      await server.close({ noticeMs: 0, timeoutMs: 1000 });
    });

  it('by a history that takes longer to load than a request may take ends once it is loaded', async () => {
    const store = new LongHistory(41, 2, 20);
    const service = await startWatched({ STORE_TIMEOUT_MS: '100' }, { eventStore: store });
    const client = new HttpClient(service.url, 'alice', TOKENS.alice);
    let refusals = 0;
    let answer = await client.list();
    for (; answer.status !== 200 && refusals < 40; refusals++) {
      expect(answer.error).to.equal(50300);
      expect(answer.headers['retry-after']).to.match(/^[12]$/);
      answer = await client.list();
    }
    expect(refusals).to.be.above(1);
    expect(answer.names).to.deep.equal(['Fern']);
    expect(store.asked.filter((version) => version === 0)).to.have.length(1);
    // Only the page in flight at the timeout is requested again.
    expect(store.asked.length).to.be.at.most(21 + refusals + 1);
    await service.stop();
  });

  it('is preceded by lines of a long load, with a hash of the user', async () => {
    const service = await startWatched({}, { eventStore: new LongHistory(250_001, 10_000) });
    await new HttpClient(service.url, 'alice', TOKENS.alice).list();
    const lines = service.log
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ msg }) => String(msg).startsWith('loading a long history'));
    expect(lines.map(({ version, level }) => [version, level])).to.deep.equal([
      [100_000, 30],
      [200_000, 30],
    ]);
    for (const { user } of lines) expect(user).to.match(/^[0-9a-f]{12}$/);
    await service.stop();
  });
});

describe('Retry-After', () => {
  for (const [ms, least, most] of [
    [undefined, 1, 2],
    [0, 1, 2],
    [1000, 1, 2],
    [1001, 2, 3],
    [3500, 4, 5],
    [10_000, 10, 12],
  ] as const)
    it(`of ${ms ?? 'an unknown number of'} ms is random from ${least} to ${most} seconds`, () => {
      const error = new StoreUnavailable('', { retryAfterMs: ms });
      const seen = new Set(Array.from({ length: 100 }, (_, i) => retryAfterSeconds(error, () => i / 100)));
      const all = Array.from({ length: most - least + 1 }, (_, i) => least + i);
      expect([...seen].sort((a, b) => a - b)).to.deep.equal(all);
    });
});

describe('A part of another author', () => {
  const pathOf = temporaryDirectory();

  it('may have commit ids that cannot occur in a header', async () => {
    const store = new MemoryEventStore();
    await store.append(streamName('plants/alice'), BEGINNING, '☃ "\n', encoded(created(1, 'Fern')));
    const { server, faults, client } = await serve({}, store);
    const first = await client.list();
    expect(first.names).to.deep.equal(['Fern']);
    expect((await client.get('/plants', { 'If-None-Match': first.headers.etag! })).status).to.equal(304);
    expect(faults).to.deep.equal([]);
    await server.close({ noticeMs: 0, timeoutMs: 1000 });
  });

  it('whose value cannot be sent is a 500, which is reported', async () => {
    const { server, faults, client } = await serve({
      metrics: { contentType: 'text/☃', text: async () => 'none' },
    });
    expect((await client.get('/metrics')).error).to.equal(50000);
    expect(faults).to.have.length(1);
    expect((await client.list()).status).to.equal(200);
    await server.close({ noticeMs: 0, timeoutMs: 1000 });
  });

  it('that cannot be read now is read by the next request: a file of the docs', async () => {
    const { server, faults, client } = await serve({ swaggerUi: pathOf('') });
    const file = () => client.get('/docs/swagger-ui.css');
    expect((await file()).error).to.equal(50000);
    writeFileSync(pathOf('swagger-ui.css'), 'a {}');
    expect(await file()).to.include({ status: 200, text: 'a {}' });
    expect(faults).to.have.length(1);
    await server.close({ noticeMs: 0, timeoutMs: 1000 });
  });

  it('may be ready without writes, and says why', async () => {
    const works = { reads: true, writes: false, reasons: ['writes_refused'] };
    const { server, client } = await serve({ ready: async () => works });
    expect(JSON.parse((await client.get('/health/ready')).text)).to.deep.equal({ status: 'ready', ...works });
    await server.close({ noticeMs: 0, timeoutMs: 1000 });
  });

  for (const [what, promise, status] of [
    ['another realm, without a user', 'Promise.resolve(undefined)', 401],
    ['another realm, with a user', 'Promise.resolve("alice")', 200],
    ['another library, without a user', '({ then: (resolve) => resolve(undefined) })', 401],
    ['another library, with a user', '({ then: (resolve) => resolve("alice") })', 200],
  ] as const)
    it(`may authenticate by a promise of ${what}`, async () => {
      const authenticate = () => runInNewContext(promise) as Promise<undefined>;
      const { server, client } = await serve({ authenticator: { authenticate } });
      expect((await client.list()).status).to.equal(status);
      await server.close({ noticeMs: 0, timeoutMs: 1000 });
    });
});
