/** The two paces of a group of clients: each client sends again after its response, or requests are due at a rate. */
import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises';
import { LoadConnection } from './connection';
import type { LoadRequest, Requests } from './requests';
import type { ClientGroup, ConstantRate } from './workload';

/** Requests a second that a generator can send without falling behind. */
export const MAX_RATE = 12_000;
/** Pause if the service sent no Retry-After. */
const RETRY_MS = 1000;
/** Time for the responses to requests in flight at the end. */
const LAST_ANSWERS_MS = 20_000;
/** How long the generator sleeps while no request is due: shorter than any latency of interest. */
const NAP_MS = 0.1;
const sleeping = new Int32Array(new SharedArrayBuffer(4));

/** One play of a workload. */
export interface Play {
  readonly startedAt: number;
  readonly endsAfterMs: number;
  readonly random: () => number;
  /** Resolves when the clients must stop. */
  readonly ended: Promise<void>;
  over: boolean;
}

/** What the response to a request means for its client. */
export interface SentOutcome {
  readonly succeeded: boolean;
  /** The client must wait, for so many seconds if the service named them. */
  readonly refused: boolean;
  readonly retryAfter?: number | undefined;
}

/** Sends one request, which was due at `dueAt` of `performance.now()`, and records its outcome. */
export type Send = (connection: LoadConnection, request: LoadRequest, dueAt: number) => Promise<SentOutcome>;

/** Resolves once the client has had all its responses, or the play is over. */
export async function playClient(
  play: Play,
  group: ClientGroup,
  users: readonly string[],
  url: URL,
  requests: Requests,
  send: Send,
): Promise<void> {
  const { arriveWithinMs = 0, everyMs, requests: wanted = Infinity } = group;
  const connection = new LoadConnection(url);
  const ending = play.ended.then(() => pause(LAST_ANSWERS_MS, undefined, { ref: false }));
  void ending.then(() => connection.close('unanswered'));
  const sleep = (ms: number) => Promise.race([pause(ms), play.ended]);

  if (arriveWithinMs > 0) await sleep(play.random() * arriveWithinMs);
  for (const user of users) {
    for (let succeeded = 0; succeeded < wanted && !play.over;) {
      const sentAt = performance.now();
      const request = requests(user);
      if (request === undefined) break;
      const reply = await send(connection, request, sentAt);
      if (reply.succeeded) succeeded++;
      let next = everyMs === undefined ? 0 : sentAt + everyMs;
      if (reply.refused)
        next = Math.max(next, performance.now() + 1000 * (reply.retryAfter ?? RETRY_MS / 1000));
      const wait = next - performance.now();
      if (wait > 0) await sleep(wait);
    }
  }
  connection.close();
}

/**
 * Requests are due at equal intervals. The latency of each is counted from that moment, even if it is sent later
 * because no connection is free: otherwise a stall of the server would delay the requests that would show it.
 */
export async function playAtRate(
  { startedAt, endsAfterMs }: Play,
  { perSecond, connections, inTurn = false, nap = 'precise' }: ConstantRate,
  url: URL,
  requests: Requests,
  send: Send,
): Promise<void> {
  const idle = Array.from({ length: connections }, () => new LoadConnection(url));
  let total = Math.floor((perSecond * endsAfterMs) / 1000);
  let settled = 0;
  for (let next = 0; settled < total;) {
    const due = Math.min(total, Math.floor(((performance.now() - startedAt) / 1000) * perSecond));
    while (next < due && idle.length > 0) {
      const request = requests('');
      if (request === undefined) {
        total = next;
        break;
      }
      const connection = idle.pop()!;
      void send(connection, request, startedAt + (next++ / perSecond) * 1000).then(() => {
        settled++;
        if (inTurn) idle.unshift(connection);
        else idle.push(connection);
      });
    }
    await (nap === 'precise' ? preciseNap() : pause(1));
  }
  for (const connection of idle) connection.close();
}

async function preciseNap(): Promise<void> {
  await turn();
  Atomics.wait(sleeping, 0, 0, NAP_MS);
}
