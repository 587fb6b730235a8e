/** Creates plants fast and exactly: pipelined, with every response counted. */
import { once } from 'node:events';
import { type Socket, connect } from 'node:net';

const SOCKETS = 16;
const PIPELINED = 32;
/** Batches per connection. After more requests a server may close it. */
const BATCHES = 100;

export interface Seeding {
  readonly url: string;
  readonly tokenOf: (id: number) => string;
  readonly firstId: number;
  readonly count: number;
}

/** Resolves once all of `count` plants were created. */
export async function seed({ url, tokenOf, firstId, count }: Seeding): Promise<void> {
  const { hostname, port, pathname, host } = new URL(url);
  const start = `POST ${pathname} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer `;
  const middle = '\r\nContent-Type: application/json\r\nContent-Length: ';
  const end = firstId + count;
  let next = firstId;
  const batch = (size: number) => {
    let text = '';
    for (; size > 0 && next < end; size--) {
      const id = next++;
      const body = `{"id":${id},"name":"Monstera deliciosa","tag":"indoor"}`;
      text += `${start}${tokenOf(id)}${middle}${body.length}\r\n\r\n${body}`;
    }
    return text;
  };
  await Promise.all(
    Array.from({ length: Math.min(SOCKETS, count) }, async () => {
      while (next < end) {
        const socket = connect(Number(port), hostname).setEncoding('latin1');
        await once(socket, 'connect');
        try {
          for (let sent = 0; sent < BATCHES && next < end; sent++) {
            const expected = Math.min(PIPELINED, end - next);
            socket.write(batch(expected));
            await answers(socket, expected);
          }
        } finally {
          socket.destroy();
        }
      }
    }),
  );
}

async function answers(socket: Socket, expected: number): Promise<void> {
  let text = '';
  for await (const chunk of socket.iterator({ destroyOnReturn: false }) as AsyncIterable<string>) {
    text += chunk;
    const heads = text.match(/HTTP\/1\.1 \d{3} [^]*?\r\n\r\n/g) ?? [];
    const failed = heads.find((head) => !head.startsWith('HTTP/1.1 2'));
    if (failed !== undefined) throw new Error(`seeding was answered with ${failed}`);
    if (heads.length === expected) return;
  }
  throw new Error('the connection ended while seeding');
}
