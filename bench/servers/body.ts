import type { IncomingMessage } from 'node:http';

/** Read by hand, as the smallest servers do. */
export function readJson(request: IncomingMessage): Promise<unknown> {
  return new Promise((resolve, reject) => {
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => (text += chunk));
    request.on('end', () => resolve(JSON.parse(text)));
    request.on('error', reject);
  });
}
