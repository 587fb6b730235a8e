/** The child process of {@link LoadGenerator}: plays one workload after the other. */
import { randomFrom } from '../../support/random';
import { type Play, type Send, playAtRate, playClient } from './pacing';
import { Recorder } from './recorder';
import { requestsOf } from './requests';
import type { ClientGroup, Figures, Workload } from './workload';

/** Above every deadline of the service. */
const ANSWER_TIMEOUT_MS = 60_000;

async function play(workload: Workload): Promise<Figures> {
  const { seed, endsAfterMs, windowMs, groups } = workload;
  let end!: () => void;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const startedAt = performance.now();
  const state: Play = { startedAt, endsAfterMs, random: randomFrom(seed), ended, over: false };
  const timer = setTimeout(end, endsAfterMs);
  void ended.then(() => (state.over = true));

  const playing = groups.map((group) => {
    const recorder = new Recorder(group, startedAt);
    return { group, recorder, finished: playGroup(state, workload.url, group, recorder) };
  });
  const takeFigures = () => ({
    tookMs: performance.now() - startedAt,
    groups: Object.fromEntries(playing.map(({ group, recorder }) => [group.name, recorder.take()])),
  });
  const windows =
    windowMs === undefined
      ? undefined
      : setInterval(() => process.send!({ window: takeFigures() }), windowMs);
  const finite = playing.filter(({ group }) => group.requests !== undefined);
  if (finite.length > 0) void Promise.all(finite.map(({ finished }) => finished)).then(end);
  await ended;
  const tookMs = performance.now() - startedAt;
  clearTimeout(timer);
  await Promise.all(playing.map(({ finished }) => finished));
  clearInterval(windows);
  return { ...takeFigures(), tookMs };
}

async function playGroup(state: Play, anyUrl: string, group: ClientGroup, recorder: Recorder): Promise<void> {
  const url = new URL(group.url ?? anyUrl);
  const requests = requestsOf(group, url.host, state.random);
  const send: Send = async (connection, request, dueAt) => {
    const { user, text, hangUpAfterMs, closes, onSuccess } = request;
    const outcome = await connection.send(
      text,
      hangUpAfterMs ?? ANSWER_TIMEOUT_MS,
      hangUpAfterMs !== undefined,
    );
    const succeeded = recorder.record(user, outcome, dueAt);
    if (succeeded) onSuccess?.();
    if (closes) connection.close();
    if (typeof outcome === 'string') return { succeeded, refused: outcome === 'closed' };
    const { status, retryAfter } = outcome;
    return { succeeded, retryAfter, refused: status >= 400 && group.honourRetryAfter === true };
  };
  if (group.rate) return playAtRate(state, group.rate, url, requests(), send);
  const clients = clientsOf(group).map((users) => playClient(state, group, users, url, requests(), send));
  await Promise.all(clients);
}

/** The users of each client. */
function clientsOf({ users, clients, clientsPerUser = 1 }: ClientGroup): readonly (readonly string[])[] {
  if (clients !== undefined) return Array.from({ length: clients }, () => users);
  if (clientsPerUser === 0) return [users];
  return users.flatMap((user) => Array.from({ length: clientsPerUser }, () => [user]));
}

process.on('message', (workload: Workload) => {
  void play(workload).then((figures) => process.send!({ figures }));
});
process.on('disconnect', () => process.exit(0));
process.send!('ready');
