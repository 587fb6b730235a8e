/**
 * plant-store over plain TCP, a line of JSON each way:
 *
 *   → {"token":"secret"}                                        ← {"user":"alice"}
 *   → {"seq":1,"do":"create","id":"7","name":"Fern"}            ← {"seq":1,"ok":true}
 *   → {"seq":2,"do":"list","limit":10,"after":0}                ← {"seq":2,"plants":[{"name":"Fern"}]}
 *   → {"seq":3,"do":"delete","id":"8"}                          ← {"seq":3,"error":"no-such-plant"}
 *
 * Ids are strings: a JSON number loses digits beyond 2^53. Requests may be sent
 * without waiting, and are answered as they get done; `seq` says which is which.
 *
 *   TOKENS  user:token,user:token … ; required
 *   PORT    0, the default, picks a free one
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, type Socket, createServer } from 'node:net';
import { MemoryEventStore } from 'plant-store/adapters/memory';
import { system } from 'plant-store/adapters/system';
import {
  type Authenticator,
  OutcomeUnknown,
  PlantStore,
  StoreUnavailable,
  type User,
  parseUser,
} from 'plant-store/application';
import { linesOf } from './lines.js';
import { type Request, parseRequest } from './request.js';

/** Of one connection, at a time: further ones wait in the socket. */
const MAX_UNDER_WAY = 64;
const IDLE_MS = 60_000;
const HANG_UP_MS = 1000;

const plants = new PlantStore({ ...system(), store: new MemoryEventStore() });
const authenticator = staticTokens(process.env['TOKENS'] ?? '');

// A client that has said all it will say still gets its answers.
const server = createServer({ allowHalfOpen: true }, (socket) => {
  socket.setTimeout(IDLE_MS, () => socket.destroy());
  // A connection that breaks ends its loop below; there is nobody left to be told.
  socket.on('error', () => {});
  converse(socket).catch((error: unknown) =>
    hangUp(socket, { error: 'bad-line', message: (error as Error).message }),
  );
});
server.listen(Number(process.env['PORT'] ?? 0), '127.0.0.1', () => {
  console.log(`listening on port ${(server.address() as AddressInfo).port}`);
});
process.once('SIGTERM', () => server.close());

async function converse(socket: Socket): Promise<void> {
  let user: User | undefined;
  const underWay = new Set<Promise<void>>();
  const send = async (answer: object) => {
    // Who does not read his answers is not read from either.
    if (!socket.write(asLine(answer))) await once(socket, 'drain');
  };

  // By itself the loop would destroy the socket when it is left, and with it the last answer.
  for await (const line of linesOf(socket.iterator({ destroyOnReturn: false }))) {
    if (user === undefined) {
      user = await authenticator.authenticate(tokenOf(line));
      if (user === undefined) return hangUp(socket, { error: 'bad-token' });
      await send({ user });
      continue;
    }
    const request = parseRequest(line);
    const work: Promise<void> = answer(user, request)
      .then(send)
      .catch(() => socket.destroy())
      .then(() => void underWay.delete(work));
    underWay.add(work);
    if (underWay.size >= MAX_UNDER_WAY) await Promise.race(underWay);
  }
  await Promise.all(underWay);
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
        return rejection ? { seq, error: rejection } : { seq, ok: true };
      }
      case 'list': {
        const { plants: page, next } = await plants.list(user, request);
        return { seq, plants: page, next };
      }
      case 'nothing':
        return { seq, error: 'bad-request', message: request.why };
    }
  } catch (error) {
    // Nothing was changed; nobody knows; a bug of ours. A client must be able to tell them apart.
    if (error instanceof StoreUnavailable) return { seq, error: 'unavailable' };
    if (error instanceof OutcomeUnknown) return { seq, error: 'outcome-unknown' };
    console.error(error);
    return { seq, error: 'bug' };
  }
}

/** Says a last thing. What the client has still sent is read and dropped: else it might be cut off before it hears us. */
function hangUp(socket: Socket, answer: object): void {
  if (socket.destroyed) return;
  socket.end(asLine(answer));
  socket.resume();
  setTimeout(() => socket.destroy(), HANG_UP_MS).unref();
}

/** Tokens are looked up by their digest, so that the time it takes tells nothing of them. */
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
