import type { Socket } from 'node:net';
import { type Context, resetOrDestroy } from './context';
import { PerKeyCounter } from './per-key-counter';

const LONG_BYTES = 64 * 1024;
const MAX_UNREAD = 64;

interface Download {
  readonly address: string;
  readonly end: () => void;
}

/**
 * Bounds the memory of downloads that their clients do not read. A download is a response of more
 * than {@link LONG_BYTES} bytes. The kernel may buffer up to 1.5 MB of it, so Node cannot see
 * whether the client reads it. Anyone can start one, because these responses need no token.
 *
 * After `readTimeoutMs` the connection is reset, unless the client has sent another request by
 * then. A proxy may lose a request that it sends at that moment. `Connection: close` would prevent
 * this, but `fetch` of Node 24 throws an error that nobody can catch if a connection ends while it
 * is still reading.
 *
 * Beyond {@link MAX_UNREAD} downloads, the address that has the most of them loses its oldest one,
 * so that no client can use up the memory that the others need.
 */
export function downloadLimit(readTimeoutMs: number): (ctx: Context) => void {
  const unread = new Map<Socket, Download>();
  const byAddress = new PerKeyCounter<string>();

  const begin = (socket: Socket) => {
    unread.get(socket)?.end();
    const { remoteAddress: address = '', bytesRead, destroySoon } = socket;
    const timer = setTimeout(() => {
      // After the last response (`destroySoon` below) the client may send as much as it likes, and
      // that does not show that it reads.
      if (socket.bytesRead === bytesRead || !socket.writable) resetOrDestroy(socket);
      else end();
    }, readTimeoutMs).unref();
    const end = () => {
      clearTimeout(timer);
      socket.destroySoon = destroySoon;
      socket.off('close', end);
      byAddress.add(address, -1);
      unread.delete(socket);
    };
    socket.once('close', end);
    byAddress.add(address, 1);
    unread.set(socket, { address, end });
    // Node calls this after the last response. It must not close the connection, because the kernel
    // would then keep what the client does not read for minutes. Further input is dropped.
    socket.destroySoon = () => {
      socket
        .end()
        .removeAllListeners('data')
        .on('data', () => {})
        .resume();
    };
  };

  const resetOldest = () => {
    const most = Math.max(...[...unread.values()].map(({ address }) => byAddress.of(address)));
    const [socket, { end }] = [...unread].find(
      ([, { address }]) => byAddress.of(address) === most,
    )!;
    // The socket emits `close` only later, and by then the next download may have begun.
    end();
    resetOrDestroy(socket);
  };

  return (ctx) => {
    const { socket } = ctx.req;
    if (ctx.method === 'HEAD' || !(ctx.length > LONG_BYTES)) return;
    // The client has gone while its request waited, and `close` would not be emitted again.
    if (socket.destroyed) return;
    begin(socket);
    if (unread.size > MAX_UNREAD) resetOldest();
  };
}
