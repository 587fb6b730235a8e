import type { Socket } from 'node:net';
import type { Handler } from '../context';

interface Line {
  isBusy: boolean;
  readonly waiting: (() => void)[];
}

/**
 * Executes the requests of a connection one after the other, as RFC 9112 demands in 9.3.2 if they
 * write. Node would start pipelined requests at the same time, and only send their responses in
 * order. Requests that still wait when the connection closes are not executed.
 */
export function inOrder(): Handler {
  const lines = new WeakMap<Socket, Line>();
  return (ctx, next) => {
    const { socket } = ctx.req;
    const line = lines.get(socket) ?? { isBusy: false, waiting: [] };
    const { isBusy, waiting } = line;
    if (!isBusy) lines.set(socket, line);
    const resumeNext = () => {
      const resume = waiting.shift();
      if (resume) resume();
      else line.isBusy = false;
    };
    const execute = (): unknown => {
      if (!socket.writable) {
        resumeNext();
        return;
      }
      // Node emits `close` once it has sent this response, which is the next one, or when the
      // connection closes.
      ctx.res.on('close', resumeNext);
      return next();
    };
    if (isBusy) return new Promise<void>((resume) => waiting.push(resume)).then(execute);
    line.isBusy = true;
    return execute();
  };
}
