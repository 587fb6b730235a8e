import { expect } from 'chai';
import {
  APPEND,
  type Call,
  CHECK_PRIMARY,
  READ,
  type Script,
  inOneExecution,
} from '../../../../src/adapters/redis/scripts';
import {
  SNAPSHOT_FIELDS,
  READ_FIELDS,
  WRITE,
  checksumOf,
} from '../../../../src/adapters/redis/snapshot-store';
import { REPLACE_BASE, TRIM } from '../../../../src/adapters/redis/stream-archive';
import { identityFields, identityKey } from '../../../../src/adapters/redis/store-identity';
import { addressOf, eventKeys, feedKeys, keysOf } from '../../../../src/adapters/redis/stream-key';
import { plantCodec } from '../../../../src/application';
import { BEGINNING, type Head, headOf } from '../../../../src/event-sourcing';
import { streamName } from '../../../../src/testing/a-stream';
import { ManualClock } from '../../../support/manual-clock';
import { randomFrom } from '../../../support/random';
import { type RedisServer, describeOwnRedis } from '../../../support/redis';
import { OUT_OF_MEMORY, RedisModel } from '../redis-model';
import { RedisCommands, type Session } from './redis-commands';
import { ErrorReply } from './resp';
import { created, encoded } from '../../../support/given';

const LONG = process.env['LONG'] !== undefined;
/** A new one in the long run, which is long enough to meet every reply. */
const SEED = Number(process.env['SEED'] ?? (LONG ? Date.now() % 2 ** 31 : 42));
const COMMANDS = LONG ? 20_000 : 4000;
const PREFIX = 'plant-store';
const STREAMS = ['ada', 'bob'].map(streamName);
/** The key and the value of the store's id. */
const STORE = identityKey(PREFIX);
const ID = 'the id of the store';
const WRITERS = ['writer 1', 'writer 2'];
/** Longer than the test: the clock of the simulated Redis stands still. */
const DRAFT_MS = 3_600_000;

describeOwnRedis('The commands of the simulated Redis', (startRedis) => {
  it(`have the replies of Redis, also without memory, as a replica and after archives, SEED=${SEED}`, async () => {
    const random = randomFrom(SEED);
    const below = (end: number) => Math.floor(random() * end);
    const oneOf = <T>(...values: readonly T[]): T => values[below(values.length)]!;
    // A blocking read without events ends at a tick of the server.
    const server = await startRedis('--hz', '500');
    const model = new RedisModel(0, Infinity);
    const simulated = new RedisCommands({ model, clock: new ManualClock(), replicas: 0 });
    const session: Session = { lastWrite: 0, instance: 0, node: 0, asking: false };
    const met = new Set<string>();
    const appends: Call[] = [];
    let commits = 0;

    async function both(...args: readonly (string | number)[]): Promise<void> {
      const texts = args.map(String);
      const expected = comparable(await replyOf(server, texts));
      expect(
        comparable(simulated.execute(texts, session)),
        texts.map((text) => SCRIPT_NAME.get(text) ?? text).join(' '),
      ).to.deep.equal(expected);
      const name = SCRIPT_NAME.get(texts[1]!) ?? texts[0]!;
      const replies = Array.isArray(expected) && MANY.includes(name) ? (expected as unknown[]) : [expected];
      for (const reply of replies) {
        const [first] = Array.isArray(reply) ? (reply as unknown[]) : [reply];
        met.add(`${name} ${typeof first === 'number' || String(first)}`);
      }
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
    /** The heads of the drafts of bases. */
    const drafts = new Map<string, Head>();
    const baseOf = (stream: string) => model.bases.get(stream)?.head ?? BEGINNING;
    const lease = () => oneOf<readonly [number, number]>([0, 0], [-1, 0], [1, 5]);
    /** What a script demands, with the id of the store, another one or none. */
    const demands = () => [...lease(), oneOf(ID, ID, ID, '', 'another id')] as const;
    await server.admin.xadd(STORE, '1-0', ...identityFields(ID));
    simulated.storeId = ID;
    const many = (one: () => Call) =>
      inOneExecution(Array.from({ length: 1 + below(3) }, one), { keys: [STORE], args: demands() });
    const bounds = () => [1 + below(5), oneOf(1, 200, 524_288)];

    const work: readonly (() => Promise<void>)[] = [
      async () =>
        execute(
          READ,
          ...many(() => {
            const stream = oneOf(...STREAMS);
            const { version } = someHead(stream);
            return { keys: eventKeys(PREFIX, addressOf(stream)), args: [version, ...bounds()] };
          }),
        ),
      async () =>
        execute(
          APPEND,
          ...many(() => {
            const stream = oneOf(...STREAMS);
            const { version, commit } = someHead(stream);
            const events = Array.from({ length: 1 + below(3) }, () => {
              const { type, data } = plantCodec.encode(created(below(3), oneOf('Fern', 'Moos ä')));
              return [type, data];
            });
            // A commit that may be recorded, with its events or with others.
            const id = below(3) === 0 ? commit || 'commit' : `commit-${++commits}`;
            const address = addressOf(stream);
            const append = {
              keys: [...eventKeys(PREFIX, address), feedKeys(PREFIX, address.bucket)[0]],
              args: [version, commit, id, ...bounds(), oneOf<'' | 5>('', 5), 'a', ...events.flat()],
            };
            appends.push(append);
            return below(4) === 0 ? oneOf(...appends) : append;
          }),
        ),
      async () => {
        const stream = oneOf(...STREAMS);
        const { version, commit } = someHead(stream);
        const [events, snapshot, draft] = keysOf(PREFIX, stream);
        const fields = ['0', `chunk ${below(9)}`, 'version', version];
        const args = [
          version,
          commit,
          oneOf(...WRITERS),
          oneOf('first', 'next', 'last'),
          DRAFT_MS,
          ...fields,
        ];
        await execute(WRITE, [events!, snapshot!, draft!], args);
      },
      async () =>
        execute(
          READ_FIELDS,
          [oneOf(...STREAMS.flatMap((stream) => keysOf(PREFIX, stream).toSpliced(2, 1).slice(1)))],
          [oneOf(64, 6), ...SNAPSHOT_FIELDS, '0'],
        ),
      async () => {
        const stream = oneOf(...STREAMS);
        const { version, commit } = someHead(stream);
        const [events, , , base, draft] = keysOf(PREFIX, stream);
        const header = { format: 'test', head: { version, commit }, archive: 'seal' };
        const checksum = checksumOf(stream, header);
        checksum.update('a');
        const values = ['test', version, commit, 'seal', 1, checksum.digest()];
        const fields = [...SNAPSHOT_FIELDS.flatMap((name, index) => [name, values[index]!]), '0', 'a'];
        const args = [version, commit, oneOf(...WRITERS), 'take', DRAFT_MS, ...fields];
        await execute(WRITE, [events!, base!, draft!], args);
        drafts.set(stream, { version, commit });
      },
      async () => {
        const stream = oneOf(...STREAMS);
        const { version, commit } = drafts.get(stream) ?? BEGINNING;
        const [events, snapshot, , base, draft] = keysOf(PREFIX, stream);
        const replaced = oneOf(baseOf(stream).version, 1);
        const args = [version, commit, oneOf(...WRITERS), replaced];
        await execute(REPLACE_BASE, [events!, base!, draft!, snapshot!], args);
      },
      async () => {
        const stream = oneOf(...STREAMS);
        const { version, commit } = oneOf(baseOf(stream), someHead(stream));
        const [events, , , base] = keysOf(PREFIX, stream);
        await execute(TRIM, [events!, base!], [version, commit, oneOf(1, 5)]);
      },
      async () => {
        const ids = STREAMS.map((stream) => `${oneOf(someHead(stream).version, 0)}-0`);
        const keys = STREAMS.map((stream) => keysOf(PREFIX, stream)[0]!);
        await both('xread', 'COUNT', 1, 'BLOCK', 1, 'STREAMS', ...keys, ...ids);
      },
    ];
    const rarely: readonly (() => Promise<void>)[] = [
      flushScripts,
      // The store loses its id, or gets it back.
      async () => {
        if (session.replicaOf || model.refusal !== undefined) return;
        const isLost = simulated.storeId === undefined;
        if (isLost) await server.admin.xadd(STORE, '1-0', ...identityFields(ID));
        else await server.admin.del(STORE);
        simulated.storeId = isLost ? ID : undefined;
        await both('xrange', STORE, '1-0', '1-0');
      },
      // The events of a stream are deleted, and another history may begin; or its base is.
      async () => {
        if (session.replicaOf) return;
        const stream = oneOf(...STREAMS);
        const [events, , , base] = keysOf(PREFIX, stream);
        if (below(2) === 0) {
          await server.admin.del(base!);
          model.bases.delete(stream);
          return;
        }
        await server.admin.del(events!);
        const others = model.refusal === undefined && below(2) === 0 ? encoded(created(1, 'Fern')) : [];
        for (const { type, data } of others)
          await server.admin.xadd(events!, '1-0', 'type', type, 'data', data, 'commit', 'another');
        model.deleteEvents(
          stream,
          others.map((event) => ({ version: 1, commit: 'another', ...event })),
        );
      },
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
        await execute(CHECK_PRIMARY, [STORE], demands());
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
        'APPEND unreadable',
        'APPEND identity',
        'READ true',
        'READ archived',
        'READ unreadable',
        'READ replica',
        'READ identity',
        'READ unconfirmed',
      ],
      ...['REPLACE_BASE true', 'REPLACE_BASE READONLY', 'TRIM true', 'TRIM READONLY', 'xread null'],
      ...['WRITE true', 'READ_FIELDS null', 'READ_FIELDS test'],
      ...['CHECK_PRIMARY current', 'CHECK_PRIMARY replica', 'CHECK_PRIMARY identity'],
      ...['READ NOSCRIPT', 'APPEND OOM', 'APPEND replica', 'WRITE OOM', 'WRITE READONLY'],
    ]);
  }).timeout(300_000);
});

/** The scripts that make many calls. */
const MANY = ['READ', 'APPEND'];

const SCRIPT_NAME = new Map(
  Object.entries({ READ, APPEND, CHECK_PRIMARY, WRITE, READ_FIELDS, REPLACE_BASE, TRIM }).flatMap(
    ([name, { text, sha1 }]) => [
      [text, name],
      [sha1, name],
    ],
  ),
);

async function replyOf({ admin }: RedisServer, [name, ...args]: readonly string[]): Promise<unknown> {
  return admin.callBuffer(name!, ...args).catch((error: unknown) => error);
}

/** Texts as Latin-1 of their bytes, and errors as their codes. */
function comparable(reply: unknown): unknown {
  if (reply instanceof Error || reply instanceof ErrorReply) return reply.message.split(' ', 1)[0];
  if (typeof reply === 'string') return Buffer.from(reply).toString('latin1');
  if (Buffer.isBuffer(reply)) return reply.toString('latin1');
  if (reply instanceof Map) return comparable([...(reply as Map<unknown, unknown>)]);
  if (!Array.isArray(reply)) return reply;
  return (reply as unknown[]).map(comparable);
}
