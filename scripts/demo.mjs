// `npm run demo`: two instances of the service on one Redis, that of REDIS_URL or a redis-server
// that the demo starts. It creates plants through the first one, and prints commands to try. Ctrl-C
// ends it.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PLANTS = [
  { id: 1, name: 'Boston fern', tag: 'indoor' },
  { id: 2, name: 'Peat moss' },
  { id: 3, name: 'Aloe vera', tag: 'succulent' },
];
const children = [];
const token = randomBytes(18).toString('base64url');
const folder = mkdtempSync(join(tmpdir(), 'plant-store-demo-'));

/** Starts a program, and resolves with its output once `pattern` matches it. */
async function start(program, args, env, pattern) {
  // In a process group of its own, so that Ctrl-C does not end Redis before its clients.
  const child = spawn(program, args, { env, detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  child.on('error', (error) => end(`${program}: ${error.message}`));
  let output = '';
  for await (const chunk of child.stdout) {
    output += chunk;
    const match = pattern.exec(output);
    if (match) return child.stdout.resume() && match;
  }
  return end(`${program} did not start:\n${output}`);
}

/** A redis-server that syncs every write to disk before it answers. */
async function startRedis() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  await once(server.close(), 'close');
  const where = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', ''];
  await start(
    'redis-server',
    [...where, '--appendonly', 'yes', '--appendfsync', 'always'],
    process.env,
    /Ready to accept/,
  );
  return `redis://127.0.0.1:${port}`;
}

async function end(failure) {
  for (const child of children.reverse()) {
    child.kill();
    if (child.exitCode === null && child.pid !== undefined) await once(child, 'exit');
  }
  rmSync(folder, { recursive: true });
  if (failure !== undefined) console.error(failure);
  process.exit(failure === undefined ? 0 : 1);
}
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => end());

const REDIS_URL = process.env.REDIS_URL ?? (await startRedis());
const own = {
  PORT: '0',
  LOG_LEVEL: 'info',
  LOG_FORMAT: 'json',
  AUTH_TOKENS: `demo:${token}`,
  SHUTDOWN_NOTICE_MS: '0',
};
const env = {
  ...process.env,
  ...own,
  EVENT_STORE: 'redis',
  REDIS_URL,
  REDIS_KEY_PREFIX: 'plant-store-demo',
};
const instance = () =>
  start(process.execPath, ['-r', 'ts-node/register', 'src/main.ts'], env, /listens on (http\S+)/);
const [[, one], [, other]] = await Promise.all([instance(), instance()]);
const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
for (const plant of PLANTS) {
  const { status } = await fetch(`${one}/plants`, {
    method: 'POST',
    headers,
    body: JSON.stringify(plant),
  });
  // In the Redis of the caller they may exist from an earlier run, and are then refused with 400.
  if (status !== 200 && status !== 400) await end(`a create was answered with ${status}`);
}
const list = await (await fetch(`${other}/plants`, { headers })).text();
const bearer = `-H 'Authorization: Bearer ${token}'`;
console.log(`Two instances, ${one} and ${other}, on ${REDIS_URL}.
Created through the first one, listed by the second one: ${list}

Try:
  curl ${one}/plants ${bearer} -H 'Content-Type: application/json' -d '{"id": 9007199254740993, "name": "Ivy"}'
  curl ${other}/plants ${bearer}
  curl -i -X DELETE ${one}/plants/2 ${bearer}
  redis-cli -u ${REDIS_URL} --scan --pattern 'plant-store-demo*'
  a browser at ${one}/docs

Ctrl-C ends it all.`);
