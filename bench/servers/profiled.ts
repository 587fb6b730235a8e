/** Profiles the server that is started with `--require` and this file, between two messages; see sections/profile.ts. */
import { profiler } from './profiler';
import { PROFILE } from './status';

const { begin, end } = profiler();
let isRunning = false;

process.on('message', (message) => {
  if (message === PROFILE) void turn().then((profile) => process.send!(profile));
});

/** Begins a profile, or ends it and resolves with it. */
async function turn() {
  isRunning = !isRunning;
  if (!isRunning) return end();
  await begin();
  return {};
}
