import { once } from 'node:events';
import { type AddressInfo, type Socket, createServer } from 'node:net';
import { expect } from 'chai';
import type { RedisOptions } from '../../../src/adapters/redis';
import {
  type RedisServer,
  describeOwnRedis,
  formCluster,
  startReplicated,
} from '../../support/redis';
import { disconnect, plainClient } from '../../support/redis/server';
import { succeeds, until } from '../../support/until';
import { CALLS, fill, openedPerTest } from './opened';
import { ScriptedSentinel } from './scripted-sentinel';

/**
 * Replies of a wrong form, with an error inside, of no known command, or that are not of the
 * protocol. Left out is what ioredis itself ends the process by: a nil that answers nothing, a push
 * message whose type is nil, and any of these to PSUBSCRIBE.
 */
const NONSENSE = [
  ...[
    '+OK',
    ':7',
    '$-1',
    '*-1',
    '*0',
    '-',
    '-NOSCRIPT',
    '-MOVED',
    '-ASK 1 nowhere',
    '-MOVED 1 127.0.0.1:99999',
  ],
  ...['*1\r\n$-1', '*2\r\n:1\r\n-ERR nested', '*2\r\n:1\r\n*1\r\n-ERR nested', '*2\r\n:9\r\n:1'],
  '*1\r\n*3\r\n:0\r\n:9007199254740991\r\n*2\r\n$1\r\na\r\n:1',
  '*1\r\n*3\r\n:0\r\n:1\r\n*2\r\n$1\r\na\r\n:99999',
  ...['HTTP/1.1 400 Bad Request', `${'*1\r\n'.repeat(20_000)}:1`],
];

/** Gives each nonsense in turn. */
class Nonsense {
  isGiven = false;
  count = 0;

  constructor(readonly command: string) {}

  replyTo(command: string): string | undefined {
    if (!this.isGiven || command !== this.command) return undefined;
    return NONSENSE[this.count++ % NONSENSE.length];
  }
}

/** A reply in the protocol. */
const encoded = (reply: unknown): string => {
  if (reply instanceof Error) return `-${reply.message}`;
  if (Array.isArray(reply)) return [`*${reply.length}`, ...reply.map(encoded)].join('\r\n');
  if (Buffer.isBuffer(reply)) return `$${reply.length}\r\n${reply.toString('latin1')}`;
  return typeof reply === 'number' ? `:${reply}` : '$-1';
};

/** Passes commands on to a Redis, one after the other. */
class StrangeRedis {
  readonly #clients = new Set<Socket>();
  readonly #server = createServer((client) => this.#serve(client));

  constructor(
    private readonly nonsense: Nonsense,
    private readonly behind: RedisServer,
  ) {}

  async start(): Promise<number> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
    return (this.#server.address() as AddressInfo).port;
  }

  cut(): void {
    for (const client of this.#clients) client.destroy();
  }

  close(): void {
    this.#server.close();
    this.cut();
  }

  #serve(client: Socket): void {
    const redis = plainClient(this.behind.url);
    this.#clients.add(client);
    client.on('error', () => {});
    client.on('close', () => {
      this.#clients.delete(client);
      disconnect(redis);
    });
    let answered: Promise<unknown> = Promise.resolve();
    let rest = '';
    client.on('data', (bytes) => {
      rest += bytes.toString('latin1');
      for (let words = taken(); words; words = taken()) {
        const [name = '', ...args] = words;
        const passOn = () =>
          redis.callBuffer(name, ...args.map((arg) => Buffer.from(arg, 'latin1')));
        const reply = this.nonsense.replyTo(name.toLowerCase()) ?? passOn().then(encoded, encoded);
        answered = answered.then(async () => client.write(`${await reply}\r\n`, 'latin1'));
      }
    });
    /** The words of the next command, if it has arrived whole. */
    function taken(): string[] | undefined {
      const [head, count] = /^\*(\d+)\r\n/.exec(rest) ?? ['', 0];
      const words: string[] = [];
      let at = head.length;
      for (let left = Number(count); left > 0; left--) {
        const [line, length] = /^\$(\d+)\r\n/.exec(rest.slice(at, at + 20)) ?? ['', Infinity];
        const end = at + line.length + Number(length);
        if (rest.length < end + 2) return undefined;
        words.push(rest.slice(at + line.length, end));
        at = end + 2;
      }
      rest = rest.slice(at);
      return words.length > 0 ? words : undefined;
    }
  }
}

const FAULTS =
  'StoreUnavailable OutcomeUnknown UnreadableHistory BrokenSnapshot CheckpointConflict'.split(' ');

// What ends the process, an error or a rejection that nobody catches, fails the test.
describeOwnRedis(
  'A server that answers a command with nonsense is unavailable, and serves again after it:',
  (startRedis) => {
    const open = openedPerTest();
    const closing: { close(): unknown }[] = [];
    afterEach(() => Promise.all(closing.splice(0).map((each) => each.close())));

    /** Calls a store until each nonsense was given. */
    async function survives(
      nonsense: Nonsense,
      options: RedisOptions,
      cut: () => void,
    ): Promise<void> {
      const store = await open({ timeoutMs: 400, examineEveryMs: 50, ...options });
      // The id of a store is set only once.
      if (nonsense.command !== 'set') await until(() => succeeds(fill(store)));
      nonsense.isGiven = true;
      while (nonsense.count < NONSENSE.length) {
        const before = nonsense.count;
        cut();
        await until(async () => {
          const outcomes = await Promise.allSettled(
            Object.values(CALLS).map((call) => call(store)),
          );
          for (const outcome of outcomes)
            if (outcome.status === 'rejected')
              expect(FAULTS).to.include((outcome.reason as Error).name);
          return nonsense.count > before;
        });
      }
      nonsense.isGiven = false;
      await until(() => succeeds(fill(store)));
    }

    async function survivesBehind(
      command: string,
      behind: RedisServer,
      optionsFor: (port: number) => RedisOptions | Promise<RedisOptions>,
    ): Promise<void> {
      const nonsense = new Nonsense(command);
      const stranger = new StrangeRedis(nonsense, behind);
      closing.push(stranger);
      await survives(nonsense, await optionsFor(await stranger.start()), () => stranger.cut());
    }

    /** At the same time, because what they do is mostly to wait. */
    async function all(
      commands: readonly string[],
      test: (command: string) => Promise<void>,
    ): Promise<void> {
      const outcomes = await Promise.allSettled(commands.map(test));
      const failed = outcomes.flatMap((outcome, at) =>
        outcome.status === 'rejected' ? [`${commands[at]}: ${String(outcome.reason)}`] : [],
      );
      expect(failed).to.deep.equal([]);
    }

    it('one Redis', async () => {
      const [primary] = await startReplicated(startRedis);
      await all(
        ['info', 'config', 'client', 'select', 'get', 'eval', 'evalsha', 'wait'],
        (keyPrefix) =>
          survivesBehind(keyPrefix, primary, (port) => ({
            url: `redis://127.0.0.1:${port}/1`,
            waitReplicas: 1,
            keyPrefix,
          })),
      );
    });

    it('a Cluster', async () => {
      await all(['cluster', 'info', 'get', 'eval', 'evalsha'], async (command) => {
        const node = await startRedis('--cluster-enabled', 'yes');
        await survivesBehind(command, node, async (port) => {
          await formCluster([node], [port]);
          return { url: 'redis://x', clusterNodes: [{ host: '127.0.0.1', port }] };
        });
      });
    });

    it('a Sentinel', async () => {
      const primary = await startRedis();
      await all(['hello', 'client setname', 'sentinel master', 'get-master'], async (command) => {
        const nonsense = new Nonsense(command);
        const sentinel = await new ScriptedSentinel(primary).start();
        closing.push(sentinel);
        sentinel.strangeReply = (asked) => {
          const reply = nonsense.replyTo(asked);
          return reply && `${reply}\r\n`;
        };
        const nodes = [{ host: '127.0.0.1', port: sentinel.port }];
        const options = {
          url: 'redis://x',
          keyPrefix: command.replace(' ', '-'),
          sentinels: { nodes, master: 'plants' },
        };
        await survives(nonsense, options, () => sentinel.network.cut());
      });
    });
  },
);
