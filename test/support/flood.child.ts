/** The child process of {@link Flood}. */
import { connect } from 'node:net';
import type { FloodOptions } from './flood';

let answers = 0;

function flood({ url, request, connections }: FloodOptions): void {
  const { hostname, port } = new URL(url);
  let waiting = connections;
  const bytes = Buffer.from(request, 'latin1');
  const open = () => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    socket.once('connect', () => socket.write(bytes));
    socket.once('data', () => {
      if (--waiting === 0) process.send!('flooded');
    });
    socket.on('data', () => {
      answers++;
      socket.write(bytes);
    });
    socket.on('error', open);
    socket.on('end', open);
  };
  for (let i = 0; i < connections; i++) open();
}

process.on('message', (message: FloodOptions | 'answers') => {
  if (message === 'answers') process.send!(answers);
  else flood(message);
});
process.on('disconnect', () => process.exit(0));
