import type { Socket } from 'node:net';
import type { Handler } from '../context';

interface Queue {
  isBusy: boolean;
  readonly waiting: (() => void)[];
}

/**
 * Executes the requests of a connection one after the other, as RFC 9112 demands in 9.3.2 for
 * unsafe methods. Node would start pipelined requests at the same time, and only send their
 * responses in order. Requests that still wait when they are refused, or when the connection closes,
 * are not executed.
 */
export function inOrder(): Handler {
  const queues = new WeakMap<Socket, Queue>();
  return async (ctx, next) => {
    const { socket } = ctx.req;
    let queue = queues.get(socket);
    if (queue === undefined) queues.set(socket, (queue = { isBusy: false, waiting: [] }));
    const { waiting } = queue;
    const resumeNext = () => {
      const resume = waiting.shift();
      if (resume) resume();
      else queue.isBusy = false;
    };
    if (queue.isBusy) await new Promise<void>((resume) => waiting.push(resume));
    queue.isBusy = true;
    if (!socket.writable || ctx.res.writableEnded) resumeNext();
    else {
      // Node sends this response next, and emits `close` after it, or when the connection closes.
      ctx.res.on('close', resumeNext);
      await next();
    }
  };
}
