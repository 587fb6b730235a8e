/**
 * `npm run demo`: two instances on one Redis (REDIS_URL, or a redis-server that
 * the demo starts), or one instance in memory if there is no Redis. It creates some
 * plants through the first instance, and prints commands to try. Ctrl-C ends it.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { streamKey } from '../src/adapters/redis';
import { parseUser, plantsOf } from '../src/application';
import { type RunningService, bootstrap } from '../src/service/bootstrap';
import { readConfig } from '../src/service/config';
import { problemsText } from '../src/service/start-text';
import { startDurableRedis } from './durable-redis';

const PLANTS = [
  { id: 1, name: 'Boston fern', tag: 'indoor' },
  { id: 2, name: 'Peat moss' },
  { id: 3, name: 'Aloe vera', tag: 'succulent' },
];

interface Redis {
  readonly url: string;
  readonly where: string;
  stop(): Promise<void>;
}

async function main(): Promise<number> {
  const interrupted = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  const redis = await findRedis();
  const token = randomBytes(18).toString('base64url');
  const instances: RunningService[] = [];
  try {
    for (let count = redis ? 2 : 1; count > 0; count--) instances.push(await start(redis, token));
    await plant(instances[0]!, token);
    console.log(whatToTry(instances, redis, token, await list(instances.at(-1)!, token)));
    await interrupted;
    return 0;
  } finally {
    await Promise.all(instances.map((instance) => instance.stop()));
    await redis?.stop();
  }
}

async function start(redis: Redis | undefined, token: string): Promise<RunningService> {
  const store = redis && { EVENT_STORE: 'redis', REDIS_URL: redis.url, REDIS_KEY_PREFIX: 'plant-store-demo' };
  const { config, problems } = readConfig({
    PORT: '0',
    AUTH_TOKENS: `demo:${token}`,
    LOG_LEVEL: 'error',
    ...store,
  });
  if (problems) throw new Error(problemsText(problems));
  return bootstrap(config);
}

async function plant({ url }: RunningService, token: string): Promise<void> {
  for (const body of PLANTS) {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const { status } = await fetch(`${url}/plants`, { method: 'POST', headers, body: JSON.stringify(body) });
    // On the caller's Redis they may exist from an earlier run, and are then refused with 400.
    if (status !== 200 && status !== 400) throw new Error(`planting was answered with ${status}`);
  }
}

async function list({ url }: RunningService, token: string): Promise<string> {
  const answer = await fetch(`${url}/plants`, { headers: { Authorization: `Bearer ${token}` } });
  return answer.text();
}

function whatToTry(
  instances: readonly RunningService[],
  redis: Redis | undefined,
  token: string,
  plants: string,
) {
  const [one, other] = [instances[0]!.url, instances.at(-1)!.url];
  const bearer = `-H 'Authorization: Bearer ${token}'`;
  return [
    redis
      ? `Two instances, ${one} and ${other}, on one Redis (${redis.where}).`
      : `One instance, ${one}, in memory: there is no redis-server on the PATH, and no REDIS_URL.`,
    `Planted through ${redis ? 'the first, listed by the second' : 'it, and listed'}: ${plants}`,
    '',
    'Try:',
    `  curl ${one}/plants ${bearer} -H 'Content-Type: application/json' -d '{"id": 9007199254740993, "name": "Ivy"}'`,
    `  curl ${other}/plants ${bearer}`,
    `  curl -i '${other}/plants?limit=2' ${bearer}`,
    `  curl -i -X DELETE ${one}/plants/2 ${bearer}`,
    `  a browser at ${one}/docs, with the token ${token}`,
    ...(redis
      ? [
          `  redis-cli -u ${redis.url} XRANGE '${streamKey('plant-store-demo', plantsOf(parseUser('demo')!))}' - +`,
        ]
      : []),
    '',
    'Ctrl-C ends it all.',
  ].join('\n');
}

/** The caller's Redis, a started one, or none. */
async function findRedis(): Promise<Redis | undefined> {
  const url = process.env['REDIS_URL'];
  if (url) return { url, where: 'that of REDIS_URL', stop: async () => {} };
  const own = await startDurableRedis().catch(() => undefined);
  return own && { ...own, where: `started for the demo, at port ${own.port}` };
}

void main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    console.error(`the demo failed: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  },
);
