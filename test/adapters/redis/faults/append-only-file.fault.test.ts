import { parseUser } from '../../../../src/application';
import { execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { PlantEvent } from '../../../../src/domain';
import {
  BEGINNING,
  type EventStore,
  type Head,
  type RecordedEvent,
  type StreamName,
  UnreadableHistory,
  replay,
} from '../../../../src/event-sourcing';
import { decoded, encoded, created, deleted, plantsOf } from '../../../support/given';
import { randomFrom } from '../../../support/random';
import { type RedisServer, describeOwnRedis } from '../../../support/redis';
import { openStore, plantsOver } from '../open-store';
import { plantCodec } from '../../../../src/application';

const LONG = process.env['LONG'] === '1';
const SEED = Number(process.env['SEED'] ?? randomInt(2 ** 31));
/** The bytes at the end of the file that are damaged. */
const DAMAGED_BYTES = (LONG ? 64 : 2) * 1024;
/** Bytes between two cuts. A prime: so they fall on all parts of a command. */
const CUT_EVERY = 97;
const FLIPS = LONG ? 1000 : 30;
/** As Redis names it before its first rewrite. */
const APPENDS_FILE = 'appendonly.aof.1.incr.aof';
const USERS = ['alice', 'bob'].map((name) => parseUser(name)!);
const STREAMS = USERS.map(plantsOf);

type History = readonly RecordedEvent<PlantEvent>[];

interface RecordedAppend {
  readonly stream: StreamName;
  readonly events: History;
  /** The length of the file when it was recorded. */
  readonly end: number;
}

describeOwnRedis('An append-only file of Redis', (startRedis) => {
  let redis: RedisServer;
  let directory: string;
  /** By name, as they were written. */
  let files: ReadonlyMap<string, Buffer>;
  /** The bytes of {@link APPENDS_FILE}. */
  let bytes: Buffer;
  /** In order, for all users. */
  let appends: readonly RecordedAppend[];

  before(async function () {
    this.timeout(120_000);
    redis = await startRedis(
      ...['--appendonly', 'yes', '--appendfsync', 'always', '--aof-load-truncated', 'yes'],
      ...['--auto-aof-rewrite-percentage', '0', '--aof-use-rdb-preamble', 'no'],
    );
    const settingOf = async (name: string) => (await redis.admin.config('GET', name))[1] ?? '';
    directory = join(await settingOf('dir'), await settingOf('appenddirname'));
    if (!existsSync(join(directory, APPENDS_FILE))) {
      const pendingReason =
        'the append-only file of Redis 7 or later is damaged on this machine only, not in Docker';
      Object.assign(this.test!.parent!, { pendingReason });
      this.skip();
    }
    const { store, close } = await openStore(redis.url);
    appends = await record(store, randomFrom(SEED)).finally(close);
    await redis.kill9();
    files = new Map(readdirSync(directory).map((file) => [file, readFileSync(join(directory, file))]));
    bytes = files.get(APPENDS_FILE)!;
  });

  /** Appends of one to four events, some of them repeated, until the file is long enough and has two events of each user. */
  async function record(store: EventStore, random: () => number): Promise<readonly RecordedAppend[]> {
    const below = (count: number) => Math.floor(random() * count);
    const heads = new Map<StreamName, Head>();
    const living = new Map<StreamName, number[]>();
    const recorded: RecordedAppend[] = [];
    let ids = 0;
    const hasTwo = (stream: StreamName) => (heads.get(stream)?.version ?? 0) > 1;
    for (let end = 0; end < 1.25 * DAMAGED_BYTES || !STREAMS.every(hasTwo);) {
      const stream = STREAMS[below(STREAMS.length)]!;
      const [head, plants] = [heads.get(stream) ?? BEGINNING, living.get(stream) ?? []];
      const events = Array.from({ length: 1 + below(4) }, () => {
        if (plants.length > 0 && below(3) === 0) return deleted(plants.splice(below(plants.length), 1)[0]!);
        plants.push(++ids);
        return created(ids, `plant ${ids}`, ids % 2 === 0 ? 'indoor' : undefined);
      });
      const commit = `commit-${recorded.length}`;
      await store.append(stream, head, commit, encoded(...events));
      end = statSync(join(directory, APPENDS_FILE)).size;
      // A repetition writes to the file, too.
      if (below(8) === 0) await store.append(stream, head, commit, encoded(...events));
      const first = head.version + 1;
      recorded.push({
        stream,
        events: decoded(
          encoded(...events).map((event, index) => ({ version: first + index, commit, ...event })),
        ),
        end,
      });
      heads.set(stream, { version: head.version + events.length, commit });
      living.set(stream, plants);
    }
    return recorded;
  }

  /**
   * What the users' histories are, or why they are unreadable, when Redis starts on these bytes. `undefined` if it
   * refuses them, also after redis-check-aof.
   */
  async function historiesOn(damaged: Buffer): Promise<readonly (History | UnreadableHistory)[] | undefined> {
    rmSync(directory, { recursive: true });
    mkdirSync(directory);
    for (const [file, content] of files) writeFileSync(join(directory, file), content);
    writeFileSync(join(directory, APPENDS_FILE), damaged);
    try {
      await redis.start().catch(() => repair().then(() => redis.start()));
    } catch {
      return undefined;
    }
    const { store, close } = await openStore(redis.url);
    try {
      const plants = plantsOver(store);
      return await Promise.all(
        USERS.map(async (user) => {
          const events: RecordedEvent<PlantEvent>[] = [];
          try {
            // It tells archived first events from lost ones; a replay does not.
            await plants.list(user);
            for await (const page of replay(store, plantsOf(user), plantCodec)) events.push(...page);
            return events;
          } catch (error) {
            // Any other error would be a 500.
            if (error instanceof UnreadableHistory) return error;
            throw error;
          }
        }),
      );
    } finally {
      await close();
      await redis.kill9();
    }
  }

  function repair(): Promise<void> {
    return new Promise((resolve) => {
      const args = ['--fix', join(directory, 'appendonly.aof.manifest')];
      const { stdin } = execFile('redis-check-aof', args, () => resolve());
      // It ends without a question if there is nothing that it can repair.
      stdin!.on('error', () => {}).end('y\n');
    });
  }

  /** The histories of these appends. */
  const historiesOf = (some: readonly RecordedAppend[]) =>
    STREAMS.map((own) => some.filter(({ stream }) => stream === own).flatMap(({ events }) => events));

  it('has all appends where it is whole', async () => {
    expect(await historiesOn(bytes)).to.deep.equal(historiesOf(appends));
  });

  it('has the first appends, each as a whole, wherever it is cut', async function () {
    this.timeout(600_000);
    for (let cut = bytes.length - 1; cut > bytes.length - DAMAGED_BYTES; cut -= CUT_EVERY) {
      const left = appends.filter(({ end }) => end <= cut);
      const histories = await historiesOn(bytes.subarray(0, cut));
      expect(histories, `SEED=${SEED}, cut at ${cut}`).to.deep.equal(historiesOf(left));
    }
  });

  it('has an unreadable history if the first event of a user is in another stream', async () => {
    const damaged = Buffer.from(bytes);
    damaged.write('clice', bytes.indexOf(`${USERS[0]!}:events`));
    const [alice, bob] = (await historiesOn(damaged)) ?? [];
    expect(alice).to.be.instanceOf(UnreadableHistory);
    expect(bob).to.deep.equal(historiesOf(appends)[1]);
  });

  // It has no checksum: nothing shows that a letter of a name has changed.
  it('is refused or has an unreadable history if a bit has changed, or no other append is changed or left out', async function () {
    this.timeout(600_000);
    const random = randomFrom(SEED);
    let readable = 0;
    for (let flip = 0; flip < FLIPS; flip++) {
      const position = bytes.length - 1 - Math.floor(random() * DAMAGED_BYTES);
      const bit = Math.floor(random() * 8);
      const damaged = Buffer.from(bytes);
      damaged[position]! ^= 1 << bit;
      const histories = (await historiesOn(damaged)) ?? [];

      const before = appends.filter(({ end }) => end <= position);
      const struck = appends[before.length];
      for (const [index, history] of histories.entries()) {
        if (history instanceof UnreadableHistory) continue;
        readable++;
        const own = struck?.stream === STREAMS[index] ? struck!.events.map(({ version }) => version) : [];
        const others = (events: History) => events.filter(({ version }) => !own.includes(version));
        const why = `SEED=${SEED}, bit ${bit} at ${position}`;
        const written = historiesOf(appends)[index]!.slice(0, history.length);
        expect(others(history), why).to.deep.equal(others(written));
        expect(history.length, why).to.be.at.least(historiesOf(before)[index]!.length);
      }
    }
    expect(readable).to.be.above(0);
  });
});
