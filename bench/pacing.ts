/** The two paces of a load: full speed, and a constant rate. */
import { setImmediate as turn } from 'node:timers/promises';
import { Connection } from '../test/world/load/connection';
import { CONNECTIONS } from './load';

/** Requests a second that a generator can send without falling behind. */
export const MAX_RATE = 12_000;
/** Connections at a constant rate. Requests beyond that wait, and their waiting counts as latency. */
const MAX_OPEN = 512;
/** How long the generator sleeps while no request is due: shorter than any latency of interest. */
const NAP_MS = 0.1;
const sleeping = new Int32Array(new SharedArrayBuffer(4));

/**
 * Sends one request, and resolves after its outcome.
 *
 * @param dueAt when the request was due, as of `performance.now()`.
 * @param index the number of the request, from 0.
 */
export type Send = (connection: Connection, dueAt: number, index: number) => Promise<void>;

export interface ConstantRate {
  /** Most open connections. */
  readonly open?: number;
  /** Whether all of them are in use, rather than as few as possible. */
  readonly inTurn?: boolean;
  /** Sleeps between the looks at the clock. The default is precise, and uses much processor time. */
  readonly nap?: () => Promise<unknown>;
}

/** Each of {@link CONNECTIONS} connections sends its next request at once after a response. */
export async function fullSpeed(url: URL, seconds: number, send: Send): Promise<void> {
  const end = performance.now() + seconds * 1000;
  let next = 0;
  const client = async (connection: Connection) => {
    while (performance.now() < end) await send(connection, performance.now(), next++);
    connection.close();
  };
  await Promise.all(connections(url, CONNECTIONS).map(client));
}

/**
 * Requests are due at equal intervals. The latency of each is counted from that moment, even if it is sent later
 * because no connection is free: otherwise a stall of the server would delay the requests that would show it.
 *
 * @param rate requests a second.
 */
export async function constantRate(
  url: URL,
  rate: number,
  total: number,
  send: Send,
  { open = MAX_OPEN, inTurn = false, nap = preciseNap }: ConstantRate = {},
): Promise<void> {
  const began = performance.now();
  const idle = connections(url, open);
  let settled = 0;
  for (let next = 0; settled < total;) {
    const due = Math.min(total, Math.floor(((performance.now() - began) / 1000) * rate));
    for (; next < due && idle.length > 0; next++) {
      const connection = idle.pop()!;
      const dueAt = began + (next / rate) * 1000;
      void send(connection, dueAt, next).then(() => {
        settled++;
        if (inTurn) idle.unshift(connection);
        else idle.push(connection);
      });
    }
    await nap();
  }
  for (const connection of idle) connection.close();
}

async function preciseNap(): Promise<void> {
  await turn();
  Atomics.wait(sleeping, 0, 0, NAP_MS);
}

function connections(url: URL, count: number): Connection[] {
  return Array.from({ length: count }, () => new Connection(url));
}
