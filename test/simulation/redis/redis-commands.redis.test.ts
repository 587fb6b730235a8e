import { expect } from 'chai';
import { APPEND, READ, type Script } from '../../../src/adapters/redis/scripts';
import { HEADER, WRITE } from '../../../src/adapters/redis/snapshot-store';
import { keysOf } from '../../../src/adapters/redis/stream-key';
import { plantCodec } from '../../../src/application';
import type { PlantEvent } from '../../../src/domain';
import { BEGINNING, type Head, headOf } from '../../../src/event-sourcing';
import { streamName } from '../../../src/testing/a-stream';
import { openStore } from '../../adapters/redis/open-store';
import { created } from '../../event-sourcing/pending-request';
import { ManualClock } from '../../support/manual-clock';
import { randomFrom } from '../../support/random';
import { type RedisServer, describeOwnRedis } from '../../support/redis';
import { OUT_OF_MEMORY, RedisModel } from '../redis-model';
import { RedisCommands, type Session } from './redis-commands';
import { ErrorReply } from './resp';

const SEED = Number(process.env['SEED'] ?? Date.now() % 2 ** 31);
const COMMANDS = process.env['LONG'] === undefined ? 4000 : 20_000;
const PREFIX = 'plant-store';
const STREAMS = ['ada', 'bob'].map(streamName);
const WRITERS = ['writer 1', 'writer 2'];

describeOwnRedis('The commands of the simulated Redis', (startRedis) => {
  it(`have the replies of Redis, also without memory, as a replica and after archives, SEED=${SEED}`, async () => {
    const random = randomFrom(SEED);
    const below = (end: number) => Math.floor(random() * end);
    const oneOf = <T>(...values: readonly T[]): T => values[below(values.length)]!;
    const server = await startRedis();
    const model = new RedisModel<PlantEvent>(0, Infinity);
    const simulated = new RedisCommands({ model, codec: plantCodec, clock: new ManualClock(), replicas: 0 });
    const session: Session = { lastWrite: 0 };
    const met = new Set<string>();
    const appends: string[][] = [];
    let commits = 0;

    async function both(...args: readonly (string | number)[]): Promise<void> {
      const texts = args.map(String);
      const expected = comparable(await replyOf(server, texts));
      expect(
        comparable(simulated.execute(texts, session)),
        texts.map((text) => SCRIPT_NAME.get(text) ?? text).join(' '),
      ).to.deep.equal(expected);
      const [first] = Array.isArray(expected) ? (expected as unknown[]) : [expected];
      met.add(`${SCRIPT_NAME.get(texts[1]!) ?? texts[0]} ${typeof first === 'number' || String(first)}`);
    }
    const execute = async (
      { text, sha1 }: Script,
      keys: readonly string[],
      args: readonly (string | number)[],
    ) => {
      if (below(2) === 0) await both('evalsha', sha1, keys.length, ...keys, ...args);
      await both('eval', text, keys.length, ...keys, ...args);
    };
    const flushScripts = async () => {
      await server.admin.script('FLUSH');
      simulated.flushScripts();
    };
    const someHead = (stream: string): Head => {
      const history = model.history(stream);
      const head = below(3) === 0 ? history[below(history.length)] : history.at(-1);
      return below(8) === 0 ? { version: below(20), commit: 'other' } : headOf(head ?? BEGINNING);
    };
    const bounds = () => [1 + below(5), oneOf(1, 200, 524_288)];

    const work: readonly (() => Promise<void>)[] = [
      async () => {
        const stream = oneOf(...STREAMS);
        const { version } = someHead(stream);
        await execute(READ, keysOf(PREFIX, stream).slice(0, 1), [version, ...bounds()]);
      },
      async () => {
        const stream = oneOf(...STREAMS);
        const { version, commit } = someHead(stream);
        const events = Array.from({ length: 1 + below(3) }, () => {
          const { type, data } = plantCodec.encode(created(below(3), oneOf('Fern', 'Moos ä')));
          return [type, data];
        });
        // A commit that may be recorded, with its events or with others.
        const id = below(3) === 0 ? commit || 'commit' : `commit-${++commits}`;
        const args = [version, commit, id, ...bounds(), ...events.flat()];
        const append = [...keysOf(PREFIX, stream).slice(0, 1), ...args.map(String)];
        appends.push(append);
        const [key, ...rest] = below(4) === 0 ? oneOf(...appends) : append;
        await execute(APPEND, [key!], rest);
      },
      async () => {
        const stream = oneOf(...STREAMS);
        const { version, commit } = someHead(stream);
        const [events, snapshot, draft] = keysOf(PREFIX, stream);
        const fields = ['0', `chunk ${below(9)}`, 'version', version];
        const args = [version, commit, oneOf(...WRITERS), oneOf('first', 'next', 'last'), 30_000, ...fields];
        await execute(WRITE, [events!, snapshot!, draft!], args);
      },
      async () =>
        both(
          'hmget',
          oneOf(...STREAMS.flatMap((stream) => [keysOf(PREFIX, stream)[1]!, keysOf(PREFIX, stream)[3]!])),
          ...HEADER,
          '0',
        ),
    ];
    const rarely: readonly (() => Promise<void>)[] = [
      flushScripts,
      async () => {
        const full = model.refusal === undefined;
        await server.admin.config('SET', 'maxmemory', full ? '1' : '0');
        model.refusal = full ? OUT_OF_MEMORY : undefined;
      },
      async () => {
        if (session.replicaOf) delete session.replicaOf;
        else session.replicaOf = new Map(STREAMS.map((stream) => [stream, model.history(stream).length]));
        // Nothing listens at this port, so it keeps what it has.
        if (session.replicaOf) await server.admin.replicaof('127.0.0.1', 1);
        else await server.admin.replicaof('NO', 'ONE');
        await both('role');
      },
      async () => {
        const stream = oneOf(...STREAMS);
        const replaced = model.bases.get(stream)?.head.version ?? 0;
        const history = model.history(stream);
        const last = history[replaced + below(history.length - replaced)];
        if (last === undefined || model.refusal !== undefined || session.replicaOf) return;
        const base = { format: 'test', head: headOf(last), chunks: ['a'], archive: 'seal' };
        const { archive, close } = await openStore(server.url);
        expect(await archive.saveBase(stream, base, replaced, async () => {})).to.equal(true);
        while ((await archive.trim(stream, base.head))! > 0);
        await close();
        model.archive(stream, base);
        // It has sent scripts.
        await flushScripts();
      },
    ];
    for (let command = 0; command < COMMANDS; command++)
      await (below(20) === 0 ? oneOf(...rarely) : oneOf(...work))();

    expect([...met]).to.include.members([
      ...[
        'APPEND appended',
        'APPEND conflict',
        'APPEND reset',
        'APPEND archived',
        'READ true',
        'READ archived',
      ],
      ...['WRITE true', 'hmget null', 'hmget test', 'role master', 'role slave'],
      ...['READ NOSCRIPT', 'APPEND OOM', 'APPEND READONLY', 'WRITE OOM', 'WRITE READONLY'],
    ]);
  }).timeout(300_000);
});

const SCRIPT_NAME = new Map(
  Object.entries({ READ, APPEND, WRITE }).flatMap(([name, { text, sha1 }]) => [
    [text, name],
    [sha1, name],
  ]),
);

async function replyOf({ admin }: RedisServer, [name, ...args]: readonly string[]): Promise<unknown> {
  return admin.callBuffer(name!, ...args).catch((error: unknown) => error);
}

/** Texts as Latin-1 of their bytes, errors as their codes, and of ROLE the role. */
function comparable(reply: unknown): unknown {
  if (reply instanceof Error || reply instanceof ErrorReply) return reply.message.split(' ', 1)[0];
  if (typeof reply === 'string') return Buffer.from(reply).toString('latin1');
  if (Buffer.isBuffer(reply)) return reply.toString('latin1');
  if (!Array.isArray(reply)) return reply;
  const items = (reply as unknown[]).map(comparable);
  return items[0] === 'master' || items[0] === 'slave' ? items.slice(0, 1) : items;
}
