/** The child process of {@link LoadGenerator}: plays one workload after the other. */
import { setTimeout as pause } from 'node:timers/promises';
import { tokenOf } from '../../support/token';
import { randomFrom } from '../../support/random';
import { Connection } from './connection';
import { Recorder } from './recorder';
import type { ClientGroup, Figures, Workload } from './workload';

/** Above every deadline of the service. */
const ANSWER_TIMEOUT_MS = 60_000;
/** Time for the responses to requests in flight at the end. */
const LAST_ANSWERS_MS = 20_000;
/** Pause if the service sent no Retry-After. */
const RETRY_MS = 1000;
/** Unique to this generator, so that no other creates the same ids. */
let nextId = process.pid * 1_000_000_000;

interface Play {
  readonly url: string;
  readonly startedAt: number;
  readonly random: () => number;
  /** Resolves when the clients must stop. */
  readonly ended: Promise<void>;
  over: boolean;
}

async function play({ url, seed, endsAfterMs, groups }: Workload): Promise<Figures> {
  let end!: () => void;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const startedAt = performance.now();
  const state: Play = {
    url,
    startedAt,
    random: randomFrom(seed),
    ended,
    over: false,
  };
  const timer = setTimeout(end, endsAfterMs);
  void ended.then(() => (state.over = true));

  const playing = groups.map((group) => {
    const recorder = new Recorder(group, startedAt);
    const clients = clientsOf(group).map((users) => playClient(state, group, users, recorder));
    return { group, recorder, finished: Promise.all(clients) };
  });
  const finite = playing.filter(({ group }) => group.requests !== undefined);
  if (finite.length > 0) void Promise.all(finite.map(({ finished }) => finished)).then(end);
  await ended;
  const tookMs = performance.now() - startedAt;
  clearTimeout(timer);
  await Promise.all(playing.map(({ finished }) => finished));
  return {
    tookMs,
    groups: Object.fromEntries(playing.map(({ group, recorder }) => [group.name, recorder.figures])),
  };
}

/** The users of each client. */
function clientsOf({ users, clientsPerUser = 1 }: ClientGroup): readonly (readonly string[])[] {
  if (clientsPerUser === 0) return [users];
  return users.flatMap((user) => Array.from({ length: clientsPerUser }, () => [user]));
}

async function playClient(
  state: Play,
  group: ClientGroup,
  users: readonly string[],
  recorder: Recorder,
): Promise<void> {
  const { arriveWithinMs = 0, everyMs, requests = Infinity, hangUpAfterMs } = group;
  const connection = new Connection(new URL(group.url ?? state.url));
  const requestOf = requestsOf(group);
  const ending = state.ended.then(() => pause(LAST_ANSWERS_MS, undefined, { ref: false }));
  void ending.then(() => connection.close('unanswered'));
  const sleep = (ms: number) => Promise.race([pause(ms), state.ended]);

  if (arriveWithinMs > 0) await sleep(state.random() * arriveWithinMs);
  for (const user of users) {
    for (let succeeded = 0; succeeded < requests && !state.over;) {
      const sentAt = performance.now();
      const timeoutMs = hangUpAfterMs ?? ANSWER_TIMEOUT_MS;
      const outcome = await connection.send(requestOf(user), timeoutMs, hangUpAfterMs !== undefined);
      if (recorder.record(user, outcome, sentAt)) succeeded++;
      if (group.connectionPerRequest) connection.close();

      let next = everyMs === undefined ? 0 : sentAt + everyMs;
      const refused = typeof outcome === 'string' ? outcome === 'closed' : outcome.status >= 400;
      if (refused && (group.honourRetryAfter || outcome === 'closed')) {
        const { retryAfter = RETRY_MS / 1000 } = typeof outcome === 'string' ? {} : outcome;
        next = Math.max(next, performance.now() + 1000 * retryAfter);
      }
      const wait = next - performance.now();
      if (wait > 0) await sleep(wait);
    }
  }
  connection.close();
}

/** Makes the requests of one client, in turn. */
function requestsOf(group: ClientGroup): (user: string) => string {
  const { get = [], create } = group;
  const name = create && 'n'.repeat(create.nameLength);
  let count = 0;
  return (user) => {
    const head = `Host: plants\r\nAuthorization: Bearer ${tokenOf(user)}\r\n`;
    const turn = count++;
    if (create === undefined || (get.length > 0 && turn % 2 === 0))
      return `GET ${get[(create ? turn / 2 : turn) % get.length]} HTTP/1.1\r\n${head}\r\n`;
    const body = `{"id":${nextId++},"name":"${name}"}`;
    return `POST /plants HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  };
}

process.on('message', (workload: Workload) => {
  void play(workload).then((figures) => process.send!(figures));
});
process.on('disconnect', () => process.exit(0));
process.send!('ready');
