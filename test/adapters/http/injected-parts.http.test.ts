/** The HTTP adapter with an event store or an authenticator of another author: it answers, and continues. */
import { streamName } from '../../../src/testing/a-stream';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { type HttpServer, serve } from '../../../src/adapters/http';
import { MemoryEventStore } from '../../../src/adapters/memory';
import { system } from '../../../src/adapters/system';
import { type Authenticator, PlantStore, parseUser } from '../../../src/application';
import { BEGINNING } from '../../../src/event-sourcing';
import { encoded, created } from '../../support/given';

const ALICE = parseUser('alice')!;

describe('The HTTP adapter with parts of another author', () => {
  let server: HttpServer | undefined;
  afterEach(() => server?.close({ noticeMs: 0, timeoutMs: 1000 }));

  async function start(parts: {
    store?: MemoryEventStore;
    authenticator?: Authenticator;
    contentType?: string;
  }) {
    const { store = new MemoryEventStore(), authenticator = { authenticate: () => ALICE } } = parts;
    const { contentType = 'text/plain' } = parts;
    const faults: unknown[] = [];
    server = await serve({
      plants: new PlantStore({ ...system(), store }),
      authenticator,
      metrics: { contentType, text: async () => 'none' },
      report: ({ error }) => {
        if (error !== undefined) faults.push(error);
      },
    });
    const url = `http://127.0.0.1:${server.port}`;
    const get = (path: string, headers = {}) =>
      fetch(url + path, { headers: { Authorization: 'Bearer x', ...headers } });
    return { get, faults };
  }

  it('lists plants whose commit ids cannot occur in a header', async () => {
    const store = new MemoryEventStore();
    await store.append(streamName('plants/alice'), BEGINNING, '☃ "\n', encoded(created(1, 'Fern')));
    const { get, faults } = await start({ store });
    const first = await get('/plants');
    expect(await first.json()).to.deep.equal([{ name: 'Fern' }]);
    const again = await get('/plants', { 'If-None-Match': first.headers.get('etag') });
    expect(again.status).to.equal(304);
    expect(faults).to.deep.equal([]);
  });

  it('answers 500, reports it and continues if a response cannot be sent', async () => {
    const { get, faults } = await start({ contentType: 'text/☃' });
    const broken = await get('/metrics');
    expect({ status: broken.status, body: await broken.json() })
      .to.deep.include({ status: 500 })
      .and.to.have.nested.property('body.error', 50000);
    expect(faults).to.have.length(1);
    expect((await get('/plants')).status).to.equal(200);
  });

  for (const [what, promise, status] of [
    ['another realm, without a user', 'Promise.resolve(undefined)', 401],
    ['another realm, with a user', 'Promise.resolve("alice")', 200],
    ['another library, without a user', '({ then: (resolve) => resolve(undefined) })', 401],
    ['another library, with a user', '({ then: (resolve) => resolve("alice") })', 200],
  ] as const) {
    it(`awaits a promise of ${what}`, async () => {
      const { get } = await start({
        authenticator: { authenticate: () => runInNewContext(promise) as Promise<undefined> },
      });
      expect((await get('/plants')).status).to.equal(status);
    });
  }
});
