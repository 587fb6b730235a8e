import { type IncomingMessage, get as getPlain } from 'node:http';
import { get as getSecure } from 'node:https';

/**
 * Downloads the text at `url`: status 200, at most `maxBytes`, UTF-8, no redirects.
 *
 * Rejects when `signal` aborts, or with an error that names the problem. It does
 * not use `fetch`, which may reuse a connection that the server has just closed.
 */
export async function download(url: URL, maxBytes: number, signal: AbortSignal): Promise<string> {
  const get = url.protocol === 'https:' ? getSecure : getPlain;
  const headers = { accept: 'application/jwk-set+json, application/json', 'accept-encoding': 'identity' };
  return new Promise((resolve, reject) => {
    const request = get(url, { agent: false, signal, headers });
    request.on('response', (response) => {
      resolve(read(response, maxBytes).finally(() => request.destroy()));
    });
    request.on('error', reject);
    // After `101 Switching Protocols` Node closes the connection, with neither a response nor an error.
    request.on('close', () => reject(new Error('closed the connection without a final response')));
  });
}

async function read(response: IncomingMessage, maxBytes: number): Promise<string> {
  if (response.statusCode !== 200) throw new Error(`answered with status ${response.statusCode}`);
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) throw new Error(`answered with more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
}
