/** Tests the server as a browser would use it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { type AddressInfo, type Socket, connect } from 'node:net';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { MemoryEventStore } from 'plant-store/adapters/memory';
import { parseUser, plantsOf } from 'plant-store/application';
import { StoreUnavailable } from 'plant-store/event-sourcing';
import { liveServer } from './live.js';

const ALICE = parseUser('alice')!;

describe('The live page', () => {
  let store: MemoryEventStore;
  /** Subscribers that wait for a change. */
  let waiting: Set<unknown>;
  let server: ReturnType<typeof liveServer>;
  let url: string;

  beforeEach(async () => {
    store = new MemoryEventStore();
    const callbacks = (waiting = new Set());
    const notify = store.notify.bind(store);
    store.notify = (stream, after, changed) => {
      callbacks.add(changed);
      const cancel = notify(stream, after, changed);
      return () => {
        callbacks.delete(changed);
        cancel();
      };
    };
    server = liveServer(store, ALICE).listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  const post = (body: unknown, type = 'application/json') =>
    fetch(`${url}/plants`, {
      method: 'POST',
      headers: { 'Content-Type': type },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });

  /** The lists that the server sends, as the names of the plants. */
  async function* lists(signal?: AbortSignal): AsyncGenerator<string[], undefined> {
    const response = await fetch(`${url}/events`, { signal: signal ?? null });
    assert.equal(response.headers.get('content-type'), 'text/event-stream');
    let text = '';
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      for (let end; (end = text.indexOf('\n\n')) >= 0; text = text.slice(end + 2)) {
        const data = /^data: (.*)$/m.exec(text.slice(0, end))?.[1];
        if (data !== undefined) yield (JSON.parse(data) as { name: string }[]).map(({ name }) => name);
      }
    }
  }

  it('is served', async () => {
    const page = await fetch(`${url}/`);
    assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8');
    assert.match(await page.text(), /EventSource/);
    assert.equal((await fetch(`${url}/other`)).status, 404);
  });

  it('gets the list at once, and again after each change', async () => {
    const all = lists();
    assert.deepEqual((await all.next()).value, []);
    for (const [id, names] of [
      ['1', ['Fern']],
      ['9223372036854775807', ['Fern', 'Fern']],
    ] as const) {
      assert.equal((await post({ id, name: 'Fern' })).status, 201);
      assert.deepEqual((await all.next()).value, names);
    }
    await all.return(undefined);
  });

  it('gets the same lists in every window', async () => {
    const windows = [lists(), lists(), lists()];
    for (const window of windows) assert.deepEqual((await window.next()).value, []);
    await post({ id: '1', name: 'Moss' });
    for (const window of windows) assert.deepEqual((await window.next()).value, ['Moss']);
    for (const window of windows) await window.return(undefined);
  });

  it('gets what is left after the user was erased', async () => {
    await post({ id: '1', name: 'Moss' });
    const all = lists();
    assert.deepEqual((await all.next()).value, ['Moss']);
    await store.erase(plantsOf(ALICE));
    assert.deepEqual((await all.next()).value, []);
    await all.return(undefined);
  });

  it('stops waiting for changes when it is closed', async () => {
    const closed = new AbortController();
    const all = lists(closed.signal);
    await all.next();
    await until(() => waiting.size === 1);
    closed.abort();
    await all.next().catch(() => {});
    await until(() => waiting.size === 0);
  });

  it('is reconnected by the browser when the store is unavailable: its stream breaks', async () => {
    store.read = () => Promise.reject(new StoreUnavailable('away'));
    const { error } = console;
    console.error = () => {};
    await assert.rejects(async () => lists().next());
    console.error = error;
  });

  it('accepts no Host but its own, so that no other site reads the list by another name for the address', async () => {
    const { port } = server.address() as AddressInfo;
    const statuses = [];
    for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, 'localhost', `evil.example:${port}`]) {
      const [response] = (await once(request(`${url}/`, { headers: { host } }).end(), 'response')) as [
        NodeJS.ReadableStream & { statusCode: number },
      ];
      response.resume();
      statuses.push(response.statusCode);
    }
    assert.deepEqual(statuses, [200, 200, 421, 421]);
  });

  it(
    'buffers a bounded number of bytes for browsers that do not read, and serves another one',
    { timeout: 30_000 },
    async () => {
      for (let id = 1; id <= 500; id++) await post({ id: String(id), name: 'x'.repeat(9000) });
      const { port } = server.address() as AddressInfo;
      const disconnected = new Promise((resolve) =>
        server.on('connection', (socket) => socket.once('close', resolve)),
      );
      const sockets: Socket[] = [];
      for (let count = 0; count < 20; count++) {
        const socket = connect(port, '127.0.0.1').pause();
        socket.on('error', () => {});
        // Three lists of 4.5 MB: the second and the third one wait for the first.
        socket.write(`GET /events HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`.repeat(3));
        sockets.push(socket);
      }
      await disconnected;
      const all = lists();
      assert.equal(((await all.next()).value as string[]).length, 500);
      await all.return(undefined);
      for (const socket of sockets) socket.destroy();
    },
  );

  it('does not create an invalid plant, nor one for another site', async () => {
    assert.equal((await post({ id: '1', name: 'Fern' })).status, 201);
    const statuses = [];
    for (const [body, type] of [
      [{ id: '1', name: 'Moss' }],
      [{ id: 2, name: 'Moss' }],
      [{ id: '2', name: '' }],
      ['null'],
      ['{"id":'],
      [{ id: '2', name: 'x'.repeat(10_000) }],
      [{ id: '2', name: 'Moss' }, 'text/plain'],
    ] as const)
      statuses.push((await post(body, type)).status);
    assert.deepEqual(statuses, [409, 400, 400, 400, 400, 413, 415]);
    const all = lists();
    assert.deepEqual((await all.next()).value, ['Fern']);
    await all.return(undefined);
  });
});

async function until(happened: () => boolean): Promise<void> {
  while (!happened()) await new Promise((resolve) => setTimeout(resolve, 5));
}
