import { type IncomingMessage, get as getPlain } from 'node:http';
import { get as getSecure } from 'node:https';

/**
 * The text at `url`, within bounds: 200 or nothing, no redirects (which could
 * lead anywhere), at most `maxBytes`, UTF-8. Rejects with an error that says
 * which of these it was. Not `fetch`: that takes a connection from last time
 * where it has one, which may just have been closed, and would be taken for an
 * outage.
 */
export async function download(url: URL, maxBytes: number, signal: AbortSignal): Promise<string> {
  const get = url.protocol === 'https:' ? getSecure : getPlain;
  const headers = { accept: 'application/jwk-set+json, application/json', 'accept-encoding': 'identity' };
  return new Promise((resolve, reject) => {
    const request = get(url, { agent: false, signal, headers }, (response) => {
      void read(response, maxBytes)
        .then(resolve, reject)
        .finally(() => request.destroy());
    });
    request.on('error', reject);
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
