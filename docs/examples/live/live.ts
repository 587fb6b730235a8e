/** The plants of one user over HTTP, live. */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { system } from 'plant-store/adapters/system';
import { PlantStore, type User } from 'plant-store/application';
import { NewPlant, type PlantEvent } from 'plant-store/domain';
import { ArchivedHistory, type EventStore, HistoryChanged, subscribe } from 'plant-store/event-sourcing';

const PAGE = new URL('../index.html', import.meta.url);
/** The page shows at most this many plants. */
const LIMIT = 1000;
const MAX_BODY_BYTES = 10_000;

/**
 *   GET /         the page
 *   GET /events   the list, now and after each change
 *   POST /plants  creates a plant: {"id":"7","name":"Fern"}
 */
export function liveServer(store: EventStore<PlantEvent>, user: User): Server {
  const { clock, ...others } = system();
  const plants = new PlantStore({ clock, ...others, store });

  /** Sends the list, and again after each change, until the signal is aborted. */
  async function follow(send: (list: readonly object[]) => Promise<void>, signal: AbortSignal) {
    while (!signal.aborted) {
      let list = await plants.list(user, { limit: LIMIT });
      await send(list.plants);
      try {
        for await (const { version } of subscribe(store, user, list.head, { clock, signal })) {
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

  async function sendEvents(response: ServerResponse) {
    const closed = new AbortController();
    response.once('close', () => closed.abort());
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
    // How long the browser waits before it reconnects, in ms.
    response.write('retry: 1000\n\n');
    await follow(async (list) => {
      const { signal } = closed;
      // Backpressure: a slow browser gets the next list when it has this one.
      if (!response.write(`data: ${JSON.stringify(list)}\n\n`)) await once(response, 'drain', { signal });
    }, closed.signal);
  }

  async function create(request: IncomingMessage): Promise<number> {
    // Another site cannot send this type without the permission of this one.
    if (request.headers['content-type'] !== 'application/json') return 415;
    if (!(Number(request.headers['content-length']) <= MAX_BODY_BYTES)) return 413;
    const { id, name } = Object(await json(request).catch(() => undefined)) as Record<string, unknown>;
    if (typeof id !== 'string' || typeof name !== 'string') return 400;
    const plant = NewPlant.from({ id, name });
    if (plant === undefined) return 400;
    const { rejection } = await plants.create(user, plant);
    return rejection === undefined ? 201 : 409;
  }

  async function answer(request: IncomingMessage, response: ServerResponse) {
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

  return createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      if (response.destroyed) return;
      console.error(error);
      // A browser reconnects to a stream that breaks, but not after a status other than 200.
      if (response.headersSent) response.destroy();
      else response.writeHead(503).end();
    });
  });
}
