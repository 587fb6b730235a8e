/** A minimal HTTP server on Node: a fixed response to GET and DELETE, JSON parsed and written on POST. */
import { type ServerResponse, createServer } from 'node:http';
import { LIST, serve } from './shared';

const TYPE = 'application/json; charset=utf-8';

serve(
  createServer((request, response) => {
    if (request.method === 'GET') {
      response.writeHead(200, { 'Content-Type': TYPE, 'Content-Length': LIST.length }).end(LIST);
    } else if (request.method === 'DELETE') {
      response.writeHead(204).end();
    } else {
      // Without a promise, because that would cost time.
      let text = '';
      request.setEncoding('utf8');
      request.on('data', (chunk: string) => (text += chunk));
      request.on('end', () => answer(response, text));
    }
  }),
);

function answer(response: ServerResponse, text: string): void {
  const { name, tag } = JSON.parse(text) as { name: string; tag?: string };
  const plant = JSON.stringify({ name, tag });
  response.writeHead(200, { 'Content-Type': TYPE, 'Content-Length': Buffer.byteLength(plant) }).end(plant);
}
