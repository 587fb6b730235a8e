/** Profiles the server that is started with `--require` and this file, between two messages; see sections/profile.ts. */
import { Session } from 'node:inspector/promises';
import { PROFILE } from './status';

const session = new Session();
session.connect();
let isRunning = false;

process.on('message', (message) => {
  if (message === PROFILE) void turn().then((profile) => process.send!(profile));
});

/** Begins a profile, or ends it and resolves with it. */
async function turn() {
  isRunning = !isRunning;
  if (!isRunning) return (await session.post('Profiler.stop')).profile;
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: 200 });
  await session.post('Profiler.start');
  return {};
}
