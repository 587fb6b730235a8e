import { expect } from 'chai';
import {
  appendFileSync,
  existsSync,
  readFileSync,
  readdirSync,
  renameSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname } from 'node:path';
import type { PlantEvent } from '../../../src/domain';
import { BEGINNING, type Head } from '../../../src/event-sourcing';
import { HttpClient } from '../../support/client';
import { compiledCli } from '../../support/compiled-cli';
import { encoded, created, deleted, newPlant } from '../../support/given';
import { theBlock } from '../../docs/shell';
import { instancesPerTest } from '../../support/instance';
import { describeRedis } from '../../support/redis';
import { temporaryDirectory } from '../../support/temporary-directory';
import { until } from '../../support/until';
import { openStore, plantsOver } from '../redis/open-store';
import { runCli } from './cli-fixture';
import { type KeyKind, keyOf } from '../../support/keys';
import { parseUser, plantsOf } from '../../../src/application';

const ALICE = parseUser('alice')!;
const STREAM = plantsOf(ALICE);

/** How many archives race with the instances. */
const ARCHIVES = 5;

/** Commits of one, two and three events in turn: 60 events, of which some plants live. */
function commits(): PlantEvent[][] {
  const events = Array.from({ length: 60 }, (_, index) =>
    index % 3 === 2 ? deleted(index - 1) : created(index, `Fern ${index}`, 'indoor'),
  );
  const all: PlantEvent[][] = [];
  for (let size = 1; events.length > 0; size = (size % 3) + 1) all.push(events.splice(0, size));
  return all;
}

describeRedis('events archive', (redis) => {
  const bash = compiledCli();
  const path = temporaryDirectory();
  const startInstances = instancesPerTest();
  let prefix: string;
  let count = 0;
  let opened: Awaited<ReturnType<typeof openStore>>;
  /** The export of the whole history, before anything was archived. */
  let whole: string;

  const key = (kind: KeyKind, user: string = ALICE) => keyOf(user, prefix, kind);
  const cli = (...typed: string[]) => runCli(opened, 'events', ...typed);
  const exported = async (...typed: string[]) => (await cli('export', ...typed)).out;
  const archive = (version: number, file: string, ...more: string[]) =>
    cli('archive', '--user', 'alice', '--until', String(version), '--output', path(file), ...more);
  const ids = async () => (await redis.admin.xrange(key('events'), '-', '+')).map(([id]) => parseInt(id));
  /** What a new instance lists. */
  const names = async () => {
    const snapshots = { store: opened.snapshots, every: Infinity };
    const { plants } = await plantsOver(opened.store, {}, snapshots).list(ALICE);
    return plants.map(({ name }) => name);
  };
  const environment = () => ({
    EVENT_STORE: 'redis',
    REDIS_URL: redis.url,
    REDIS_KEY_PREFIX: prefix,
    LOG_LEVEL: 'error',
  });

  beforeEach(async () => {
    prefix = `${redis.prefix}:archive-${++count}`;
    opened = await openStore(redis.url, { keyPrefix: prefix, pageSize: 7 });
    let head: Head = BEGINNING;
    for (const [index, events] of commits().entries()) {
      await opened.store.append(STREAM, head, `commit ${index}`, encoded(...events));
      head = { version: head.version + events.length, commit: `commit ${index}` };
    }
    whole = await exported();
  });
  afterEach(() => opened.close());

  it('writes the first events to a file, and removes them from the store', async () => {
    const before = await names();
    const { code, out, error } = await archive(39, 'a');
    expect({ code, error: error.split('\n') }).to.deep.equal({
      code: 0,
      error: [
        `Wrote 39 events to ${path('a')}.`,
        `Read ${path('a')} back: it has the events of the store.`,
        'Saved the base snapshot: 13 plants at version 39.',
        'Removed 38 events from the store.',
        '',
      ],
    });
    expect(out).to.match(
      /^The events of plants\/alice up to version 39 are in .+, which freed about \d+ kB of the store\.\n$/,
    );

    expect(await ids()).to.deep.equal(Array.from({ length: 22 }, (_, index) => 39 + index));
    const lines = readFileSync(path('a'), 'utf8').split('\n');
    expect(lines.slice(0, 40)).to.deep.equal(whole.split('\n').slice(0, 40));
    expect(await names()).to.deep.equal(before);
  });

  it('archives no part of a commit', async () => {
    for (const [version, end] of [
      [38, 37],
      [39, 39],
      [41, 39],
    ] as const)
      expect((await archive(version, 'a', '--dry-run', '--json')).out).to.contain(`"until":${end},`);
  });

  it('says what it would do, and changes nothing, in a dry run', async () => {
    const { code, out } = await archive(39, 'a', '--dry-run');
    expect({ code, out }).to.deep.equal({
      code: 0,
      out: out.match(
        /^Would archive 39 events of plants\/alice, up to version 39 and free about \d+ kB of the store\. 21 later events would stay\.\n$/,
      )![0],
    });
    expect(existsSync(path('a'))).to.equal(false);
    expect(await ids()).to.have.length(60);
    expect(await redis.admin.keys(`${prefix}:*:plants/*`)).to.deep.equal([key('events')]);
  });

  it('reports a draft that a killed archive left, and keeps it', async () => {
    const draft = path('a.0123abcd.part');
    writeFileSync(draft, 'half of an archive');
    for (const more of [['--dry-run'], []]) {
      const { code, error } = await archive(39, 'a', ...more);
      expect([code, error.split(',')[0]]).to.deep.equal([
        0,
        `${draft} is a draft of a command that was killed`,
      ]);
    }
    expect(readFileSync(draft, 'utf8')).to.equal('half of an archive');
  });

  it('archives again after an archive, and the archives and the store are the whole history', async () => {
    await archive(21, 'a');
    await archive(39, 'b');
    await archive(60, 'c');
    expect(await ids()).to.deep.equal([60]);
    const files = ['c', 'a', 'b'].flatMap((file) => ['--archive', path(file)]);
    expect(await exported(...files)).to.equal(whole);
    expect((await cli('verify', ...files)).out).to.equal('1 stream, 60 events, 20 plants: no problems.\n');
    expect((await cli('verify')).out).to.equal('1 stream, 0 events, 20 plants: no problems.\n');
  });

  it('lets an export and the archives be imported into another store', async () => {
    await archive(21, 'a');
    await archive(39, 'b');
    writeFileSync(path('whole'), await exported('--archive', path('a'), '--archive', path('b')));
    const other = await openStore(redis.url, { keyPrefix: `${prefix}:copy` });
    expect((await runCli(other, 'events import', path('whole'))).code).to.equal(0);
    expect((await runCli(other, 'events export')).out).to.equal(whole);
    await other.close();

    // The first archive alone is an export; a later one is none.
    const third = await openStore(redis.url, { keyPrefix: `${prefix}:third` });
    expect((await runCli(third, 'events import', path('a'))).out).to.contain('holds 21 events of 1 stream');
    const { code, error } = await runCli(third, 'events import', path('b'));
    expect(code).to.equal(1);
    expect(error).to.contain('line 2 continues an archive: `events export` with --archive for each');
    await third.close();
  });

  it('has an export, an import and a tail of the store alone refuse, or say what they leave out', async () => {
    await archive(39, 'a');
    const all = await cli('export');
    expect([all.code, all.error]).to.deep.equal([
      1,
      'plant-store: the events after version 0 are archived: export plants/alice with --archive and the file of each archive. `--user` exports other users.\n',
    ]);
    writeFileSync(path('whole'), whole);
    const imported = await cli('import', path('whole'));
    expect([imported.code, imported.error]).to.deep.equal([
      1,
      'refused: plants/alice has archived events in the store, so the export cannot be compared with it; it is unchanged\n',
    ]);
    const interrupted = new AbortController();
    // Ends when it waits for more events, and not within a read, which has ten seconds.
    const clock = {
      now: () => 0,
      after: (ms: number, run: () => void) => {
        if (ms < 10_000) {
          interrupted.abort();
          setImmediate(run);
        }
        return () => {};
      },
    };
    const tail = await runCli(
      { ...opened, clock, interrupted: interrupted.signal },
      'events tail --user alice --from start',
    );
    expect(tail.out.split('\n')).to.have.length(22);
    expect(tail.error).to.equal(
      'The events of plants/alice up to version 39 are archived; the later ones follow.\n',
    );
  });

  it('is refused before it changes anything', async () => {
    await archive(21, 'a');
    writeFileSync(path('other'), whole);
    const refusals: [version: number, file: string, why: RegExp][] = [
      [61, 'b', /^plant-store: --until must be at most 60, the last version of plants\/alice\n/],
      [39, 'a', /a: line 2 does not continue the archive before it\n/],
      [39, 'other', /other: line 2 does not continue the archive before it\n/],
      [22, 'b', /up to version 21 are archived already, in another file: its seal is [0-9a-f]{64}\n/],
      [39, '.', /is not a file\n/],
    ];
    for (const [version, file, why] of refusals) {
      const { code, error } = await archive(version, file);
      expect([code, error]).to.satisfy(() => code === 1 && why.test(error), error);
    }
    expect((await cli('archive', '--user', 'bob', '--until', '1', '--output', path('b'))).error).to.contain(
      'nothing is stored for bob',
    );
    expect(existsSync(path('b'))).to.equal(false);
    expect(readFileSync(path('other'), 'utf8')).to.equal(whole);
    expect(await ids()).to.have.length(40);
  });

  describe('removes nothing from the store', () => {
    const all = Array.from({ length: 60 }, (_, index) => index + 1);
    afterEach(async () => expect(await ids()).to.deep.equal(all));

    it('if the file differs from the store', async () => {
      for (const damage of [
        () => truncateSync(path('a'), 500),
        () => writeFileSync(path('a'), readFileSync(path('a'), 'utf8').replace('Fern 6', 'Moss 6')),
        () => appendFileSync(path('a'), '\n'),
        () => writeFileSync(path('a'), whole),
      ]) {
        // An archive that was written by a command that ended before it saved the base.
        opened.archive.saveBase = () => Promise.reject(new Error('killed'));
        await archive(39, 'a');
        damage();
        Reflect.deleteProperty(opened.archive, 'saveBase');
        expect((await archive(39, 'a')).code).to.equal(1);
        expect(await redis.admin.exists(key('base'))).to.equal(0);
        unlinkSync(path('a'));
      }
    });

    it('if the base snapshot that was written differs from the replay', async () => {
      const { saveBase } = opened.archive;
      opened.archive.saveBase = (stream, base, replaced, check) =>
        saveBase.call(
          opened.archive,
          stream,
          { ...base, chunks: [[...base.chunks].join().replace('Fern 0', 'Moss 0')] },
          replaced,
          check,
        );
      expect((await archive(39, 'a')).error).to.contain('the base snapshot was read back and differs');
      expect(await redis.admin.exists(key('base'))).to.equal(0);
    });

    it('if the history was replaced meanwhile', async () => {
      const { saveBase } = opened.archive;
      const dump = await redis.admin.dumpBuffer(key('events'));
      opened.archive.saveBase = async (...args) => {
        await opened.catalogue.erase(STREAM);
        const saved = await saveBase.apply(opened.archive, args);
        await redis.admin.restore(key('events'), 0, dump);
        return saved;
      };
      expect((await archive(39, 'a')).error).to.contain('the history of plants/alice changed');
    });
  });

  it('is restored from its archives and the store if the base is lost or broken', async () => {
    const before = await names();
    await archive(21, 'a');
    await archive(39, 'b');
    for (const damage of [
      () => redis.admin.del(key('base')),
      () => redis.admin.hset(key('base'), '0', '[[1]]'),
    ]) {
      await damage();
      const refused = await names().catch((error: unknown) => (error as Error).message);
      expect(refused).to.match(
        /^the first events are not in the store, and the base snapshot .*: restore|restore the history from its archives/,
      );
      expect((await cli('verify')).out).to.contain(
        'alice: the first events are not in the store, and the base',
      );
      writeFileSync(
        path('whole'),
        await exported('--user', 'alice', '--archive', path('a'), '--archive', path('b')),
      );
      await cli('erase', '--user', 'alice', '--yes');
      expect((await cli('import', path('whole'))).code).to.equal(0);
      expect([await names(), await exported()]).to.deep.equal([before, whole]);
      renameSync(path('a'), path('a.old'));
      renameSync(path('b'), path('b.old'));
      await archive(21, 'a');
      await archive(39, 'b');
    }
  });

  it('is done, and restored, by the commands of docs/operations.md', async function () {
    this.timeout(60_000).slow(10_000);
    const before = await names();
    const sh = (text: string) => bash(`set -e; ${text}`, environment(), dirname(path('a'))).ended;
    const archiving = theBlock('sh archive').text.replaceAll('990000', '39');
    expect((await sh(archiving)).code).to.equal(0);
    expect(await ids()).to.have.length(22);
    await redis.admin.del(key('base'));
    const { code, out } = await sh(theBlock('sh restore archives').text);
    expect([code, out.trimEnd().split('\n').at(-1)]).to.deep.equal([
      0,
      '1 stream, 60 events, 20 plants: no problems.',
    ]);
    expect([await names(), await exported()]).to.deep.equal([before, whole]);
  });

  it('is detected by `events verify` if base, archives and store do not belong together', async () => {
    await archive(21, 'a');
    await archive(39, 'b');
    const verified = async (...typed: string[]) => (await cli('verify', ...typed)).out.split('\n')[0];
    expect(await verified('--archive', path('a'))).to.equal(
      'plants/alice: the events after version 21 are archived, and --archive does not have them',
    );
    expect((await cli('verify', '--archive', path('b'))).error).to.contain('line 2 continues an archive');
    const files = ['--archive', path('a'), '--archive', path('b')];
    await redis.admin.hset(
      key('base'),
      '0',
      (await redis.admin.hget(key('base'), '0'))!.replace('Fern 0', 'Moss 0'),
    );
    expect(await verified(...files)).to.equal(
      'plants/alice: its base snapshot cannot be read: its checksum differs',
    );
    expect(await verified()).to.match(/^plants\/alice: the first events are not .+: its checksum differs$/);
    await cli('erase', '--user', 'alice', '--yes');
    expect(await verified(...files)).to.equal('plants/alice: nothing is stored');
    for (const command of ['verify', 'export'])
      expect((await cli(command, '--user', 'bob', ...files)).error).to.contain(
        '/a is an archive of plants/alice, whom --user does not name',
      );
  });

  describe('reports a stream that is missing beside its base,', () => {
    beforeEach(async () => {
      await archive(39, 'a');
      await redis.admin.del(key('events'));
    });
    const refusal = (work: Promise<unknown>) => work.catch((error: unknown) => (error as Error).name);

    it('and it is restored from its archives', async function () {
      this.timeout(60_000).slow(10_000);
      expect(await refusal(names())).to.equal('UnreadableHistory');
      expect((await cli('verify')).out).to.equal(
        `key ${key('base')} is the base snapshot of a stream that is missing\n` +
          '0 streams, 0 events: 1 problem.\n',
      );
      expect((await cli('verify', '--user', 'alice')).out).to.contain('nothing is stored for alice');
      writeFileSync(path('whole'), whole);
      const imported = await cli('import', path('whole'));
      expect(imported.code).to.equal(1);
      expect(imported.error).to.match(
        /^refused: plants\/alice has a history in the store that cannot be read: the str/,
      );

      const restoring = theBlock('sh restore archives').text.replace('alice-1.ndjson', path('a'));
      const { code, out } = await bash(`set -e; ${restoring}`, environment(), dirname(path('a'))).ended;
      expect([code, out.trimEnd().split('\n').at(-1)]).to.deep.equal([
        0,
        '1 stream, 39 events, 13 plants: no problems.',
      ]);
      expect(await names()).to.have.length(13);
    });

    it('and it begins anew once it is erased', async () => {
      const { code, out, error } = await cli('erase', '--user', 'alice', '--yes');
      expect([code, out, error]).to.deep.equal([
        0,
        'Erased 0 events of alice.\n',
        'Delete the archives of plants/alice, too: they have the events up to version 39.\n',
      ]);
      expect(await redis.admin.keys(`${prefix}:*:plants/*`)).to.deep.equal([]);
      expect(await names()).to.deep.equal([]);
      expect(await plantsOver(opened.store).create(ALICE, newPlant(1, 'Fern'))).to.have.property('events');
    });
  });

  it('reports a history that an older version of the service began beside its base', async () => {
    await archive(39, 'a');
    await redis.admin.del(key('events'));
    await redis.admin.xadd(
      key('events'),
      ...['1-0', 'type', 'PlantCreated', 'data', '{"id":1,"name":"Fern"}', 'commit', 'another'],
    );
    const why = 'the stream does not have the event that its base snapshot was taken after';
    const [verified, exporting] = [await cli('verify'), await cli('export', '--user', 'alice')];
    expect([verified.code, exporting.code]).to.deep.equal([1, 1]);
    expect(verified.out).to.contain(`alice: ${why}`);
    expect(exporting.error).to.contain(why);
  });

  it('is erased with its base, and the command names the archives', async () => {
    await archive(39, 'a');
    const { out, error } = await cli('erase', '--user', 'alice', '--yes');
    expect([out, error]).to.deep.equal([
      'Erased 22 events of alice.\n',
      'Delete the archives of plants/alice, too: they have the events up to version 39.\n',
    ]);
    expect(await redis.admin.keys(`${prefix}:*:plants/*`)).to.deep.equal([]);
  });

  it('loses nothing if it is killed at any step, and continues when it is repeated', async function () {
    this.timeout(60_000).slow(20_000);
    const before = await names();
    const steps = [/^$/, /Wrote/, /Read/, /Saved/, /Removed/];
    /** The file, or its draft. */
    const isOf = (file: string) => (name: string) => name.startsWith(basename(file));
    for (const [index, step] of steps.entries()) {
      const file = path(`killed-${index}`);
      const command = `exec plant-store events archive --user alice --until 39 --output ${file}`;
      const { child, said, ended } = bash(command, environment());
      await until(
        () =>
          (index === 0 ? readdirSync(dirname(file)).some(isOf(file)) : step.test(said.error)) ||
          child.exitCode !== null,
      );
      child.kill('SIGKILL');
      await ended;
      const drafts = readdirSync(dirname(file)).filter((name) => isOf(file)(name) && name.endsWith('.part'));
      expect(await names(), `after ${String(step)}`).to.deep.equal(before);
      const stored = existsSync(file) ? await exported('--archive', file) : await exported();
      expect(stored).to.equal(whole);

      const again = await cli('archive', '--user', 'alice', '--until', '39', '--output', file);
      expect(again.code, again.error).to.equal(0);
      for (const name of drafts) expect(again.error).to.contain(path(`${name} is a draft`));
      expect(await ids()).to.have.length(22);
      expect(await exported('--archive', file)).to.equal(whole);
      expect(await names()).to.deep.equal(before);
      // The whole history again, for the next step.
      await opened.catalogue.erase(STREAM);
      writeFileSync(path('whole'), whole);
      await cli('import', path('whole'));
    }
  });

  it('archives the events of a user while instances serve it, again and again', async function () {
    this.timeout(60_000).slow(20_000);
    const instances = await startInstances(3, { ...environment(), SNAPSHOT_EVERY: '20' });
    const [idle, ...clients] = instances.map(({ url }) => new HttpClient(url));
    await idle!.list();
    let ended = false;
    const acknowledged: string[] = [];
    const work = Promise.all(
      clients.map(async (client, instance) => {
        for (let round = 0; !ended; round++) {
          const id = 1000 * (instance + 1) + round;
          const { status } = await client.create(id, `plant ${id}`);
          if (status !== 200) throw new Error(`a create was answered with ${status}`);
          acknowledged.push(`plant ${id}`);
          const { names } = await client.list();
          if (!names!.includes(`plant ${id}`)) throw new Error('a list without an acknowledged plant');
        }
      }),
    );
    for (let time = 0; time < ARCHIVES; time++) {
      const enough = until(async () => (await redis.admin.xlen(key('events'))) > 40);
      await Promise.race([enough, work]);
      const { version } = (await opened.catalogue.find(STREAM))!;
      const { code, error } = await archive(version, `racing-${time}`);
      expect(code, error).to.equal(0);
      // This instance still knows the list of before, whose next events are archived.
      const recorded = [...acknowledged];
      expect((await idle!.list()).names).to.include.members(recorded);
    }
    ended = true;
    await work;
    for (const client of [idle!, ...clients])
      expect((await client.list()).names).to.include.members(acknowledged);
    expect(await names()).to.have.length(20 + acknowledged.length);
    const files = Array.from({ length: ARCHIVES }, (_, time) => ['--archive', path(`racing-${time}`)]).flat();
    expect((await cli('verify', ...files)).out).to.contain(': no problems.');
    for (const { log } of instances) expect(log.filter(({ level }) => level >= 40)).to.deep.equal([]);
  });
});
