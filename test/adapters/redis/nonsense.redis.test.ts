import { EventEmitter, once } from 'node:events';
import { type Socket, createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import type { RedisOptions } from '../../../src/adapters/redis';
import { listenLocally } from '../../support/ports';
import { type RedisServer, describeRedis, formCluster, startReplicated } from '../../support/redis';
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
  '*1\r\n$-1',
  '*2\r\n:1\r\n-ERR nested',
  '*2\r\n:1\r\n*1\r\n-ERR nested',
  '*2\r\n:9\r\n:1',
  '*1\r\n*3\r\n:0\r\n:9007199254740991\r\n*2\r\n$1\r\na\r\n:1',
  '*1\r\n*3\r\n:0\r\n:1\r\n*2\r\n$1\r\na\r\n:99999',
  'HTTP/1.1 400 Bad Request',
  `${'*1\r\n'.repeat(20_000)}:1`,
];

/** Gives each of its replies in turn, and emits `given` each time. */
class Nonsense extends EventEmitter {
  isGiven = false;
  count = 0;

  constructor(
    readonly command: string,
    readonly replies: readonly string[] = NONSENSE,
  ) {
    super();
  }

  replyTo(command: string): string | undefined {
    if (!this.isGiven || command !== this.command) return undefined;
    this.emit('given');
    return this.replies[this.count++ % this.replies.length];
  }
}

/**
 * What this process does takes most of the time, so more frequent calls would only make it later.
 */
const CALL_EVERY_MS = 50;

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

  start(): Promise<number> {
    return listenLocally(this.#server);
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
describeRedis('A server that answers commands with nonsense', (startRedis) => {
  const open = openedPerTest();
  const closing: { close(): unknown }[] = [];
  afterEach(() => Promise.all(closing.splice(0).map((each) => each.close())));

  /** Calls a store until each nonsense was given. */
  async function survives(
    nonsense: Nonsense,
    options: RedisOptions,
    cut: () => void,
  ): Promise<void> {
    // Without time limits that matter: a server that gives nonsense does answer, and on a busy
    // machine each connection would be given up before it has become available.
    const store = await open(options);
    // The id of a store is set only once.
    if (nonsense.command !== 'set') await until(() => succeeds(fill(store)));
    nonsense.isGiven = true;
    while (nonsense.count < nonsense.replies.length) {
      const before = nonsense.count;
      const given = once(nonsense, 'given');
      cut();
      await until(async () => {
        const outcomes = await Promise.allSettled(Object.values(CALLS).map((call) => call(store)));
        for (const outcome of outcomes)
          if (outcome.status === 'rejected')
            expect(FAULTS).to.include((outcome.reason as Error).name);
        await Promise.race([given, pause(CALL_EVERY_MS)]);
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
  async function all<T>(
    subjects: readonly T[],
    test: (subject: T) => Promise<void>,
  ): Promise<void> {
    const outcomes = await Promise.allSettled(subjects.map(test));
    const failed = outcomes.flatMap((outcome, at) =>
      outcome.status === 'rejected' ? [`${String(subjects[at])}: ${String(outcome.reason)}`] : [],
    );
    expect(failed).to.deep.equal([]);
  }

  // In two tests each, since a connection takes much time of the processor: first the commands of
  // a new connection, then those of calls.
  for (const commands of [
    ['info', 'config', 'client', 'select'],
    ['get', 'eval', 'evalsha', 'wait'],
  ])
    it(`is unavailable only until it answers correctly again: one Redis (${commands.join(', ')})`, async () => {
      const [primary] = await startReplicated(startRedis);
      await all(commands, (keyPrefix) =>
        survivesBehind(keyPrefix, primary, (port) => ({
          url: `redis://127.0.0.1:${port}/1`,
          waitReplicas: 1,
          keyPrefix,
        })),
      );
    });

  for (const commands of [
    ['cluster', 'info'],
    ['get', 'eval', 'evalsha'],
  ])
    it(`is unavailable only until it answers correctly again: a Cluster (${commands.join(', ')})`, async () => {
      await all(commands, async (command) => {
        const node = await startRedis('--cluster-enabled', 'yes');
        await survivesBehind(command, node, async (port) => {
          await formCluster([node], [port]);
          return { url: 'redis://x', clusterNodes: [{ host: '127.0.0.1', port }] };
        });
      });
    });

  it('is unavailable only until it answers correctly again: a Sentinel', async () => {
    const primary = await startRedis();
    const commands = ['hello', 'client setname', 'sentinel master', 'get-master'];
    // In three parts, because a store connects to a Sentinel again only after a second.
    const parts = commands.flatMap((command) => [0, 1, 2].map((part) => [command, part] as const));
    await all(parts, async ([command, part]) => {
      const nonsense = new Nonsense(
        command,
        NONSENSE.filter((_, at) => at % 3 === part),
      );
      const sentinel = await new ScriptedSentinel(primary).start();
      closing.push(sentinel);
      sentinel.strangeReply = (asked) => {
        const reply = nonsense.replyTo(asked);
        return reply && `${reply}\r\n`;
      };
      const nodes = [{ host: '127.0.0.1', port: sentinel.port }];
      const options = {
        url: 'redis://x',
        keyPrefix: `${command.replace(' ', '-')}-${part}`,
        sentinels: { nodes, master: 'plants' },
      };
      await survives(nonsense, options, () => sentinel.network.cut());
    });
  });
});
