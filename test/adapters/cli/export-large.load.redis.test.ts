/** An export of large events over a network of 256 Mbit/s: a page must be bounded in bytes, not in events. */
import { streamName } from '../../../src/testing/a-stream';
import { once } from 'node:events';
import { type AddressInfo, type Server, connect, createServer } from 'node:net';
import { expect } from 'chai';
import { BEGINNING, type Head } from '../../../src/event-sourcing';
import { encoded, created } from '../../support/given';
import { compiledCli } from '../../support/compiled-cli';
import { describeRedis } from '../../support/redis';
import { openStore } from '../redis/open-store';

const EVENTS = 3000;
/** Nearly the longest name that fits into the default BODY_LIMIT. */
const NAME = 'x'.repeat(65_000);
const EVENTS_PER_COMMIT = 50;
/** A page of 1,001 such events takes two seconds at this rate, twice the default STORE_TIMEOUT_MS. */
const BYTES_PER_MS = 32_000;

/** A TCP proxy to `target` that delays replies to {@link BYTES_PER_MS}. */
async function slowNetworkTo(target: string): Promise<Server> {
  const { hostname, port } = new URL(target);
  const listener = createServer((client) => {
    const server = connect({ host: hostname, port: Number(port) });
    for (const socket of [client, server]) socket.on('error', () => {});
    client.pipe(server);
    client.on('close', () => server.destroy());
    server.on('close', () => client.destroy());
    let due = 0;
    server.on('data', (bytes) => {
      client.write(bytes);
      due = Math.max(due, performance.now()) + bytes.length / BYTES_PER_MS;
      server.pause();
      setTimeout(() => server.resume(), due - performance.now());
    });
  });
  await once(listener.listen(0, '127.0.0.1'), 'listening');
  return listener;
}

describeRedis('events export of 3,000 events of 64 KiB', (redis) => {
  const bash = compiledCli();
  const REDIS_KEY_PREFIX = `${redis.prefix}:large`;
  let network: Server;

  before(async () => {
    network = await slowNetworkTo(redis.url);
    const { store, close } = await openStore(redis.url, { keyPrefix: REDIS_KEY_PREFIX, timeoutMs: 10_000 });
    let head: Head = BEGINNING;
    while (head.version < EVENTS) {
      const first = head.version + 1;
      const events = Array.from({ length: EVENTS_PER_COMMIT }, (_, index) => created(first + index, NAME));
      const result = await store.append(streamName('alice'), head, `commit-${first}`, encoded(...events));
      if (result.status !== 'appended') throw new Error(result.status);
      head = result.head;
    }
    await close();
  });
  after(async () => {
    network.close();
    await redis.admin.del(`${REDIS_KEY_PREFIX}:{alice}:events`);
  });

  it('exits with 0 and is complete, with the default STORE_TIMEOUT_MS', async function () {
    this.slow(20_000);
    const { out, code, error } = await bash(
      'set -o pipefail; plant-store events export --quiet | tail -n 1',
      {
        EVENT_STORE: 'redis',
        REDIS_URL: `redis://127.0.0.1:${(network.address() as AddressInfo).port}`,
        REDIS_KEY_PREFIX,
        LOG_LEVEL: 'error',
      },
    ).ended;
    expect({ code, error }).to.deep.equal({ code: 0, error: '' });
    expect(JSON.parse(out)).to.include({ streams: 1, events: EVENTS });
  });
});
