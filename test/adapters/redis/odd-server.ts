import { once } from 'node:events';
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';
import type { RedisServer } from '../../support/redis';

/** The command that is executed in place of one that a client sends; `close` ends the connection instead. */
export type Replace = (command: string) => readonly string[] | 'close' | undefined;

/** A server that behaves like `redis`, except for these commands. Resolves with its URL, and with what ends it. */
export async function oddServer({ host, port }: RedisServer, replace: Replace) {
  const sockets: Socket[] = [];
  const server = createServer((client) => {
    const redis = connect(port, host);
    sockets.push(client, redis);
    let received = '';
    client.on('data', (bytes) => {
      received += bytes.toString('latin1');
      for (let end = endOfCommand(received); end !== undefined; end = endOfCommand(received)) {
        const command = received.slice(0, end);
        received = received.slice(end);
        const [, name = ''] = /^\*\d+\r\n\$\d+\r\n(\w+)/.exec(command) ?? [];
        const other = replace(name.toUpperCase());
        if (other === 'close') return void client.destroy();
        redis.write(other ? encoded(other) : command, 'latin1');
      }
    });
    redis.pipe(client);
    for (const [one, other] of [
      [client, redis],
      [redis, client],
    ] as const)
      one.on('error', () => {}).on('close', () => other.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Where the first command ends; `undefined` if it is not complete. */
function endOfCommand(text: string): number | undefined {
  const count = /^\*(\d+)\r\n/.exec(text);
  let end = count?.[0].length ?? 0;
  for (let left = Number(count?.[1] ?? 1); left > 0; left--) {
    const length = /^\$(\d+)\r\n/.exec(text.slice(end, end + 20));
    if (!length) return undefined;
    end += length[0].length + Number(length[1]) + 2;
  }
  return end <= text.length ? end : undefined;
}

function encoded(command: readonly string[]): string {
  return [`*${command.length}`, ...command.flatMap((arg) => [`$${arg.length}`, arg]), ''].join('\r\n');
}
