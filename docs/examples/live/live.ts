/** The plants of one user over HTTP, live. */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { system } from 'plant-store/adapters/system';
import { PlantStore, type User, plantCodec, plantsOf } from 'plant-store/application';
import { NewPlant } from 'plant-store/domain';
import { ArchivedHistory, type EventStore, HistoryChanged, subscribe } from 'plant-store/event-sourcing';

const PAGE = new URL('../index.html', import.meta.url);
/** The page shows at most this many plants. */
const LIMIT = 1000;
const MAX_BODY_BYTES = 10_000;
/** What may wait for all browsers that do not read. Beyond it the one for which most waits is disconnected. */
const MAX_WAITING_BYTES = 64 * 2 ** 20;
/** After this time without reading a browser is disconnected. It reconnects if it is alive. */
const MAX_WAITING_MS = 30_000;

/**
 *   GET /         the page
 *   GET /events   the list, now and after each change
 *   POST /plants  creates a plant: {"id":"7","name":"Fern"}
 */
export function liveServer(store: EventStore, user: User): Server {
  const { clock, ...others } = system();
  const plants = new PlantStore({ clock, ...others, store });

  /** Sends the list, and again after each change, until the signal is aborted. */
  async function follow(send: (list: readonly object[]) => Promise<void>, signal: AbortSignal) {
    while (!signal.aborted) {
      let list = await plants.list(user, { limit: LIMIT });
      await send(list.plants);
      try {
        const events = subscribe(store, plantsOf(user), list.head, { codec: plantCodec, clock, signal });
        for await (const { version } of events) {
          // The list may already have later events than this one.
          if (version <= list.head.version) continue;
          list = await plants.list(user, { limit: LIMIT });
          await send(list.plants);
        }
      } catch (error) {
        // The user was erased, or a failover lost events: the page then shows what is left. Or events were archived.
        if (!(error instanceof HistoryChanged || error instanceof ArchivedHistory)) throw error;
      }
    }
  }

  const streams = new Set<ServerResponse>();

  function boundWaiting(): void {
    const waiting = [...streams].sort((a, b) => a.writableLength - b.writableLength);
    let bytes = waiting.reduce((sum, { writableLength }) => sum + writableLength, 0);
    while (bytes > MAX_WAITING_BYTES) {
      const most = waiting.pop()!;
      bytes -= most.writableLength;
      // Also of a response that waits for an earlier one on its connection.
      most.req.socket.destroy();
    }
  }

  async function sendEvents(response: ServerResponse) {
    const closed = new AbortController();
    response.req.socket.once('close', () => closed.abort());
    response.once('close', () => closed.abort());
    streams.add(response);
    closed.signal.addEventListener('abort', () => streams.delete(response));
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
    // How long the browser waits before it reconnects, in ms.
    response.write('retry: 1000\n\n');
    await follow(async (list) => {
      // Backpressure: a slow browser gets the next list when it has this one.
      if (response.write(`data: ${JSON.stringify(list)}\n\n`)) return;
      boundWaiting();
      const signal = AbortSignal.any([closed.signal, AbortSignal.timeout(MAX_WAITING_MS)]);
      await once(response, 'drain', { signal });
    }, closed.signal);
  }

  async function create(request: IncomingMessage): Promise<number> {
    // Another site cannot send this type without the permission of this one.
    if (request.headers['content-type'] !== 'application/json') return 415;
    if (!(Number(request.headers['content-length']) <= MAX_BODY_BYTES)) return 413;
    const { id, name } = Object(await json(request).catch(() => undefined)) as Record<string, unknown>;
    if (typeof id !== 'string' || typeof name !== 'string') return 400;
    const { plant } = NewPlant.from({ id, name });
    if (!plant) return 400;
    const { rejection } = await plants.create(user, plant);
    return rejection === undefined ? 201 : 409;
  }

  /** Another site can give its own name the address of this server (DNS rebinding), and then sends that name. */
  function isOwnHost({ headers: { host } }: IncomingMessage): boolean {
    const { port } = server.address() as AddressInfo;
    return ['localhost', '127.0.0.1', '[::1]'].some((name) => host === `${name}:${port}`);
  }

  async function answer(request: IncomingMessage, response: ServerResponse) {
    if (!isOwnHost(request)) return void response.writeHead(421).end();
    switch (`${request.method} ${request.url}`) {
      case 'GET /':
        response.setHeader('Content-Type', 'text/html; charset=utf-8');
        response.end(await readFile(PAGE));
        break;
      case 'GET /events':
        await sendEvents(response);
        break;
      case 'POST /plants':
        response.writeHead(await create(request)).end();
        break;
      default:
        response.writeHead(404).end();
    }
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      if (response.destroyed) return;
      console.error(error);
      // A browser reconnects to a stream that breaks, but not after a status other than 200.
      if (response.headersSent) response.destroy();
      else response.writeHead(503).end();
    });
  });
  return server;
}
