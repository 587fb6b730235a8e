/**
 * plant-store over plain TCP, a line of JSON each way:
 *
 *   → {"token":"secret"}                                        ← {"user":"alice"}
 *   → {"seq":1,"do":"create","id":"7","name":"Fern"}            ← {"seq":1,"ok":true}
 *   → {"seq":2,"do":"list","limit":10,"after":0}                ← {"seq":2,"plants":[{"name":"Fern"}]}
 *   → {"seq":3,"do":"delete","id":"8"}                          ← {"seq":3,"error":40401,"message":"…"}
 *
 * Ids are strings, because a JSON number loses digits beyond 2^53. A client may
 * send requests without waiting. Responses come as they complete; `seq` links a
 * response to its request.
 *
 *   TOKENS  user:token,user:token … ; required
 *   PORT    0, the default, selects a free port
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, type Socket, createServer } from 'node:net';
import { MemoryEventStore } from 'plant-store/adapters/memory';
import { system } from 'plant-store/adapters/system';
import {
  type Authenticator,
  FAILURES,
  PlantStore,
  REJECTED,
  type User,
  failureOf,
  parseUser,
} from 'plant-store/application';
import { linesOf } from './lines.js';
import { type Request, parseRequest } from './request.js';

/** Requests of one connection at a time. Further ones wait in the socket. */
const MAX_IN_FLIGHT = 64;
const IDLE_MS = 60_000;
const CLOSE_TIMEOUT_MS = 1000;

const plants = new PlantStore({ ...system(), store: new MemoryEventStore() });
const authenticator = staticTokens(process.env['TOKENS'] ?? '');

// A client that has closed its side still gets its responses.
const server = createServer({ allowHalfOpen: true }, (socket) => {
  socket.setTimeout(IDLE_MS, () => socket.destroy());
  // A broken connection ends the loop below, and no client is left to respond to.
  socket.on('error', () => {});
  handleConnection(socket).catch((error: unknown) =>
    closeAfter(socket, { error: 'bad-line', message: (error as Error).message }),
  );
});
server.listen(Number(process.env['PORT'] ?? 0), '127.0.0.1', () => {
  console.log(`listening on port ${(server.address() as AddressInfo).port}`);
});
process.once('SIGTERM', () => server.close());

async function handleConnection(socket: Socket): Promise<void> {
  let user: User | undefined;
  const inFlight = new Set<Promise<void>>();
  const send = async (answer: object) => {
    // Backpressure: the server does not read from a client that does not read its responses.
    if (!socket.write(asLine(answer))) await once(socket, 'drain');
  };

  // By default the loop destroys the socket at its end, and the last response with it.
  for await (const line of linesOf(socket.iterator({ destroyOnReturn: false }))) {
    if (user === undefined) {
      user = await authenticator.authenticate(tokenOf(line));
      if (user === undefined) return closeAfter(socket, { error: 'bad-token' });
      await send({ user });
      continue;
    }
    const request = parseRequest(line);
    const work: Promise<void> = answer(user, request)
      .then(send)
      .catch(() => socket.destroy())
      .then(() => void inFlight.delete(work));
    inFlight.add(work);
    if (inFlight.size >= MAX_IN_FLIGHT) await Promise.race(inFlight);
  }
  await Promise.all(inFlight);
  socket.end();
}

async function answer(user: User, request: Request): Promise<object> {
  const { seq } = request;
  try {
    switch (request.do) {
      case 'create':
      case 'delete': {
        const { rejection } =
          request.do === 'create'
            ? await plants.create(user, request.plant)
            : await plants.delete(user, request.id);
        return rejection ? { seq, ...REJECTED[rejection] } : { seq, ok: true };
      }
      case 'list': {
        const { plants: page, next } = await plants.list(user, request);
        return { seq, plants: page, next };
      }
      case 'nothing':
        return { seq, error: 'bad-request', message: request.why };
    }
  } catch (error) {
    // Nothing was written; outcome unknown; a bug. A client must be able to distinguish them.
    const failure = failureOf(error);
    if (failure === FAILURES.bug) console.error(error);
    return { seq, ...failure };
  }
}

/** Sends a last line. Unread input is read and dropped; otherwise the reset could discard that line. */
function closeAfter(socket: Socket, answer: object): void {
  if (socket.destroyed) return;
  socket.end(asLine(answer));
  socket.resume();
  setTimeout(() => socket.destroy(), CLOSE_TIMEOUT_MS).unref();
}

/** Looks tokens up by their digest, so that the time of a look-up reveals nothing about them. */
function staticTokens(list: string): Authenticator {
  const digest = (token: string) => createHash('sha256').update(token).digest('hex');
  const users = new Map<string, User>();
  for (const entry of list.split(',')) {
    const [name = '', token] = entry.split(':');
    const user = parseUser(name);
    if (user === undefined || !token) throw new Error('TOKENS must be user:token,user:token …');
    users.set(digest(token), user);
  }
  return { authenticate: async (token) => users.get(digest(token)) };
}

function tokenOf(line: unknown): string {
  const { token } = Object(line) as { token?: unknown };
  return typeof token === 'string' ? token : '';
}

function asLine(answer: object): string {
  return `${JSON.stringify(answer)}\n`;
}
