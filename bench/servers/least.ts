/**
 * The least that a service with the promises of plant-store does for a write: it appends the event to the history of the
 * user, with the store of plant-store, sends the same header fields, and writes a line into the log. It has no rules, no
 * validation, no framework and no metrics. The answer to GET is fixed.
 */
import { randomUUID } from 'node:crypto';
import { writeSync } from 'node:fs';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import { LIST, type NewPlant, partsIn, readText, serve, userOf } from './shared';

const part = partsIn(process.env['SERVICE']!);

async function main(): Promise<void> {
  const { store } = await part('adapters/redis').openRedisEventStore({ url: process.env['REDIS_URL'] });
  const { plantsOf, plantCodec } = part('application');
  const { BEGINNING } = part('event-sourcing');
  const { gather } = part('adapters/system').system();
  /** By user, the head after the last append. */
  const heads = new Map<string, Promise<unknown>>();
  let commits = 0;

  function append(user: string, event: object): Promise<unknown> {
    const last = heads.get(user) ?? Promise.resolve(BEGINNING);
    const turn = new Promise<void>(gather);
    const head = Promise.all([last, turn]).then(async ([expected]) => {
      const commit = `commit-${++commits}`;
      const appended = await store.append(plantsOf(user), expected, commit, [plantCodec.encode(event)]);
      if (appended.status !== 'appended') throw new Error(`an append resulted in ${appended.status}`);
      return appended.head;
    });
    heads.set(user, head);
    return head;
  }

  serve(
    createServer((request, response) => {
      const began = performance.now();
      const user = userOf(request.headers.authorization)!;
      const answer = (status: number, body?: string | Buffer) => {
        const requestId = randomUUID();
        respond(response, requestId, status, body);
        log(request, { requestId, user, status, durationMs: performance.now() - began });
      };
      if (request.method === 'GET') answer(200, LIST);
      else if (request.method === 'DELETE') {
        const id = request.url!.slice(request.url!.lastIndexOf('/') + 1);
        void append(user, { type: 'PlantDeleted', id }).then(() => answer(204));
      } else {
        readText(request, (text) => {
          const { id, ...plant } = JSON.parse(text) as NewPlant;
          void append(user, { type: 'PlantCreated', id: String(id), plant }).then(() =>
            answer(200, JSON.stringify(plant)),
          );
        });
      }
    }),
  );
}

function respond(
  response: ServerResponse,
  requestId: string,
  status: number,
  body: string | Buffer | undefined,
): void {
  const fields = {
    'X-Request-Id': requestId,
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
  };
  const type =
    body === undefined
      ? {}
      : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) };
  response.writeHead(status, { ...fields, ...type }).end(body);
}

let lines: string[] = [];

/** All lines of a turn of the event loop are written together. */
function log({ method }: IncomingMessage, report: object): void {
  const line = JSON.stringify({ level: 'info', time: Date.now(), method, route: '/plants', ...report });
  if (lines.push(line) > 1) return;
  setImmediate(() => {
    writeSync(1, `${lines.join('\n')}\n`);
    lines = [];
  });
}

void main();
