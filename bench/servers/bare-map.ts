/** `node:http` and a Map: no router, no framework, no validation. The list is serialized for each request. */
import { type ServerResponse, createServer } from 'node:http';
import { type NewPlant, type Plant, readJson, serve } from './shared';

const plants = new Map<number, Plant>();

serve(
  createServer((request, response) => {
    if (request.method === 'GET') {
      answer(response, [...plants.values()]);
    } else if (request.method === 'DELETE') {
      const found = plants.delete(Number(request.url!.slice('/plants/'.length)));
      response.writeHead(found ? 204 : 404).end();
    } else {
      void readJson(request).then((body) => {
        const { id, name, tag } = body as NewPlant & { tag: string };
        plants.set(id, { name, tag });
        answer(response, { name, tag });
      });
    }
  }),
);

function answer(response: ServerResponse, body: unknown): void {
  const text = JSON.stringify(body);
  const head = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
  };
  response.writeHead(200, head).end(text);
}
