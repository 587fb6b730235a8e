import type { Socket } from 'node:net';
import type { Context } from './context';
import { PerKeyCounter } from './per-key-counter';

/** In bytes. The kernel may take a longer response whole, so that Node cannot see whether its client reads it. */
const LONG = 64 * 1024;
/** Downloads that their clients may not have read yet: up to 1.5 MB in the kernel for each. */
const MAX_UNREAD = 64;

interface Download {
  readonly address: string;
  readonly end: () => void;
}

/**
 * Bounds the memory of long responses that nobody may read, which need no token. A client has `readTimeoutMs` to read one,
 * and then sends its next request or is reset. Beyond {@link MAX_UNREAD} of them, the oldest of the address with the most
 * is reset: so no client can use up what the others need.
 */
export function downloadLimit(readTimeoutMs: number): (ctx: Context) => void {
  /** The oldest first. */
  const unread = new Map<Socket, Download>();
  const byAddress = new PerKeyCounter<string>();

  const begin = (socket: Socket) => {
    unread.get(socket)?.end();
    const { remoteAddress: address = '', bytesRead } = socket;
    const timer = setTimeout(() => {
      if (socket.bytesRead === bytesRead) socket.resetAndDestroy();
      else end();
    }, readTimeoutMs).unref();
    const end = () => {
      clearTimeout(timer);
      socket.off('close', end);
      byAddress.add(address, -1);
      unread.delete(socket);
    };
    socket.once('close', end);
    byAddress.add(address, 1);
    unread.set(socket, { address, end });
  };

  const resetOldest = () => {
    const most = Math.max(...[...unread.values()].map(({ address }) => byAddress.of(address)));
    const oldest = [...unread].find(([, { address }]) => byAddress.of(address) === most);
    oldest?.[0].resetAndDestroy();
  };

  return (ctx) => {
    if (ctx.method === 'HEAD' || !(ctx.length > LONG)) return;
    begin(ctx.req.socket);
    if (unread.size > MAX_UNREAD) resetOldest();
  };
}
