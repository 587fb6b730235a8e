// node:http with fixed answers: what a server in Node costs at least.
import { createServer } from 'node:http';
import { LIST } from './list.mjs';

const json = (text) => ({
  'Content-Type': 'application/json',
  'Content-Length': Buffer.byteLength(text),
});
const LISTED = json(LIST);

createServer((request, response) => {
  if (request.method === 'GET') return response.writeHead(200, LISTED).end(LIST);
  if (request.method === 'DELETE') return response.writeHead(204).end();
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const { name, tag } = JSON.parse(Buffer.concat(chunks));
    const text = JSON.stringify({ name, tag });
    response.writeHead(200, json(text)).end(text);
  });
}).listen(process.env.PORT, '127.0.0.1');
