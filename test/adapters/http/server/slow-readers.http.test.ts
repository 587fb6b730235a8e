import { once } from 'node:events';
import { type Socket, connect } from 'node:net';
import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import Koa from 'koa';
import { type HttpServer, listen } from '../../../../src/adapters/http/server/server';
import { patient } from '../../../support/patience';

const CHUNK = Buffer.alloc(64 * 1024, 'x');
const CHUNKS = 320;
/** More than the system takes for a client that does not read. */
const LONG = Buffer.alloc(CHUNKS * CHUNK.length, 'x');

describe('A client of a server with a read timeout', () => {
  const readTimeoutMs = Math.round(patient(300));
  let server: HttpServer | undefined;
  let client: Socket | undefined;
  afterEach(async () => {
    client?.destroy();
    await server?.close({ noticeMs: 0, timeoutMs: 0 });
  });

  /** Sends a request that `answer` answers. Resolves with its response and a client that does not read yet. */
  async function request(answer: (response: ServerResponse) => void, connection = 'close') {
    const app = new Koa({ asyncLocalStorage: false });
    let respond: (response: ServerResponse) => void;
    const response = new Promise<ServerResponse>((resolve) => (respond = resolve));
    app.use((context) => {
      context.respond = false;
      answer(context.res);
      respond(context.res);
    });
    server = await listen(app, { requestTimeoutMs: readTimeoutMs });
    client = connect(server.port, '127.0.0.1').pause();
    await once(client, 'connect');
    client.write(`GET / HTTP/1.1\r\nHost: a\r\nConnection: ${connection}\r\n\r\n`);
    return { client, response: await response };
  }

  /** Reads to the end, or to a reset, which Node may report as an end. Resolves with the number of bytes. */
  function read(socket: Socket): Promise<number> {
    let bytes = 0;
    socket.on('data', ({ length }: Buffer) => (bytes += length)).resume();
    socket.on('error', () => {});
    return new Promise((resolve) => socket.once('close', () => resolve(bytes)));
  }

  it('is reset if it does not read the end of its response', async () => {
    const { client, response } = await request((response) => void response.end(LONG), 'keep-alive');
    const begin = performance.now();
    await once(response, 'close');
    expect(performance.now() - begin).to.be.within(readTimeoutMs * 0.8, readTimeoutMs * 5);
    // The system has dropped what it would send otherwise.
    expect(await read(client)).to.be.below(LONG.length / 10);
  });

  it('is reset if it does not read a response without a user that the system takes whole', async () => {
    const TAKEN = CHUNK.length + 1;
    let socket!: Socket;
    await request((response) => {
      socket = response.socket!;
      response.setHeader('Content-Length', TAKEN);
      response.end(LONG.subarray(0, TAKEN));
    }, 'keep-alive');
    const begin = performance.now();
    await once(socket, 'close');
    expect(performance.now() - begin).to.be.within(readTimeoutMs * 0.8, readTimeoutMs * 5);
  });

  it('is reset if it does not read what was written so far, also of a response without an end', async () => {
    const { response } = await request((response) => {
      const more = () =>
        setImmediate(
          () => response.destroyed || (response.write(CHUNK) ? more() : response.once('drain', more)),
        );
      more();
    });
    const begin = performance.now();
    await once(response, 'close');
    expect(performance.now() - begin).to.be.within(readTimeoutMs * 0.8, readTimeoutMs * 5);
  });

  it('has a timeout for each 64 KiB that were written', async () => {
    const { client, response } = await request((response) => void response.write(LONG));
    await pause(readTimeoutMs * 2);
    client.resume();
    await once(response, 'drain');
    // The end comes late: the client, which has read everything, waits for the service.
    await pause(readTimeoutMs * 2);
    setTimeout(() => response.end(CHUNK), readTimeoutMs / 2);
    const rest = await read(client);
    expect(rest).to.be.at.least(CHUNK.length);
  });

  it('may wait for a response for as long as it takes the service to write it', async () => {
    const { client, response } = await request((response) => void response.write('first'));
    const bytes = read(client);
    for (let i = 0; i < 4; i++) {
      await pause(readTimeoutMs / 2);
      response.write('next');
    }
    expect(response.destroyed).to.equal(false);
    response.end();
    expect(await bytes).to.be.above(20);
  });

  it('has no timeout while nothing that was written is left to read', async () => {
    const { client, response } = await request((response) => void response.write('first'));
    const drained = () => once(response, 'drain').then(() => true);
    // Until the system takes no more. Then two chunks wait.
    while (response.write(CHUNK) || (await Promise.race([drained(), pause(50, false)])));
    response.write(CHUNK);
    const bytes = read(client);
    await drained();
    await pause(readTimeoutMs * 3);
    expect(response.destroyed).to.equal(false);
    response.end();
    expect(await bytes).to.be.above(CHUNK.length);
  });

  it('has as much time again after it has read everything', async () => {
    const { client, response } = await request((response) => void response.write(CHUNK));
    const bytes = read(client);
    for (let i = 0; i < 4; i++) {
      // The second of them is not taken at once.
      response.write(Buffer.concat(Array<Buffer>(CHUNKS / 4).fill(CHUNK)));
      response.write(CHUNK);
      await once(response, 'drain');
      await pause(readTimeoutMs / 2);
    }
    response.end();
    expect(await bytes).to.be.above((CHUNKS + 5) * CHUNK.length);
  });
});
