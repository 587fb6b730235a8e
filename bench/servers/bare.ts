/**
 * A minimal HTTP server on Node: a fixed response to GET and DELETE, JSON parsed and written on POST. If REDIS_URL is set,
 * Redis answers one command before each response: that is what no service with its data in Redis does without.
 */
import { type ServerResponse, createServer } from 'node:http';
import { Redis } from 'ioredis';
import { LIST, readText, serve } from './shared';

const TYPE = 'application/json; charset=utf-8';

const url = process.env['REDIS_URL'];
const redis = url === undefined ? undefined : new Redis(url, { enableAutoPipelining: true });
const read = (client: Redis) => client.exists('plants');
const write = (client: Redis) => client.xadd('plants', '*', 'name', 'a plant');

serve(
  createServer((request, response) => {
    if (request.method === 'GET') {
      after(read, () =>
        response.writeHead(200, { 'Content-Type': TYPE, 'Content-Length': LIST.length }).end(LIST),
      );
    } else if (request.method === 'DELETE') {
      after(write, () => response.writeHead(204).end());
    } else {
      readText(request, (text) => after(write, () => answer(response, text)));
    }
  }),
);

/** Responds after the command, if there is a Redis. Without a promise otherwise. */
function after(command: (client: Redis) => Promise<unknown>, respond: () => void): void {
  if (redis) void command(redis).then(respond);
  else respond();
}

function answer(response: ServerResponse, text: string): void {
  const { name, tag } = JSON.parse(text) as { name: string; tag?: string };
  const plant = JSON.stringify({ name, tag });
  response.writeHead(200, { 'Content-Type': TYPE, 'Content-Length': Buffer.byteLength(plant) }).end(plant);
}
