import type { Socket } from 'node:net';
import type { Handler } from '../context';

/** The requests of a connection. */
interface Line {
  isBusy: boolean;
  /** Resumes each request that waits for the one that is executed. */
  readonly waiting: (() => void)[];
}

/**
 * Executes the requests of a connection one after the other, as RFC 9112, 9.3.2 asks of those that write. Node starts them
 * all at once, and only sends their responses in order. Once a connection has closed, those that wait are not executed.
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
      // Its turn has come, so that Node sends its response next, and emits this event then, or when the connection closes.
      ctx.res.on('close', resumeNext);
      return next();
    };
    if (isBusy) return new Promise<void>((resume) => waiting.push(resume)).then(execute);
    line.isBusy = true;
    return execute();
  };
}
