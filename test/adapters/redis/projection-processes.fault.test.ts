import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';
import {
  BEGINNING,
  type CheckpointStore,
  type EventStore,
  type Head,
  type LeaseRecord,
  type LeaseStore,
  type StreamName,
  leaseRecordOf,
} from '../../../src/event-sourcing';
import { Stream } from '../../../src/testing/a-stream';
import { note } from '../../event-sourcing/one-projection';
import { compiledCli } from '../../support/compiled-cli';
import { plantsOf } from '../../support/given';
import { type RedisServer, describeOwnRedis } from '../../support/redis';
import { OPERATOR_RULES, PROJECTION_RULES } from '../../support/redis/acl';
import { until } from '../../support/until';
import { Audit } from '../../world/read-model/audit';
import { openStore } from './open-store';

/** Streams of most buckets. */
const STREAMS = Array.from({ length: 100 }, (_, index) => plantsOf(`user${index}`));
const alice = plantsOf('alice');

describeOwnRedis('Processes with instances of a projection', (startRedis) => {
  const bash = compiledCli();
  let redis: RedisServer;
  let audit: Audit;
  let opened: {
    store: EventStore;
    leases: LeaseStore;
    checkpoints(projection: string): CheckpointStore;
    close(): Promise<void>;
  };
  let consumers: ChildProcess[];
  let heads: Map<StreamName, Head>;

  beforeEach(async () => {
    redis = await startRedis();
    await redis.admin.acl('SETUSER', 'consumer', ...PROJECTION_RULES);
    await redis.admin.acl('SETUSER', 'operator', ...OPERATOR_RULES);
    audit = new Audit(Number(new URL(redis.url).port));
    opened = await openStore(redis.url);
    consumers = [];
    heads = new Map();
  });
  afterEach(async () => {
    for (const consumer of consumers) consumer.kill('SIGKILL');
    audit.close();
    await opened.close();
  });

  const urlOf = (user: string) =>
    Object.assign(new URL(redis.url), { username: user, password: 'secret' }).href;

  function start(): ChildProcess {
    const args = [`${__dirname}/consumer.child.ts`, urlOf('consumer'), new URL(redis.url).port];
    const child = spawn(process.execPath, ['-r', 'ts-node/register', ...args], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: { ...process.env, TS_NODE_TRANSPILE_ONLY: 'true' },
    });
    consumers.push(child);
    return child;
  }

  async function append(stream: StreamName, text: string): Promise<void> {
    heads.set(stream, await new Stream(opened.store, stream).add(heads.get(stream) ?? BEGINNING, note(text)));
  }

  const isApplied = async (stream: StreamName) =>
    (await audit.appliedOf(stream)).at(-1)?.commit === heads.get(stream)!.commit;

  async function allApplied(): Promise<void> {
    for (const stream of heads.keys()) await until(() => isApplied(stream));
    for (const [stream, { version }] of heads) expect(await audit.appliedOf(stream)).to.have.length(version);
    expect(await audit.problems()).to.deep.equal([]);
  }

  const record = async (): Promise<LeaseRecord> => leaseRecordOf((await opened.leases.load('audit')).text);

  /** Two instances that have half of the buckets each. */
  async function startTwo(): Promise<[ChildProcess, ChildProcess]> {
    const both: [ChildProcess, ChildProcess] = [start(), start()];
    await until(async () => {
      const holders = Object.values((await record()).buckets).map(({ instance }) => Number(instance));
      return both.every(({ pid }) => holders.filter((holder) => holder === pid).length === 32);
    });
    return both;
  }

  const events = async (rest: string) => {
    const environment = { EVENT_STORE: 'redis', REDIS_URL: urlOf('operator') };
    const { code, out } = await bash(`plant-store events projection${rest}`, environment).ended;
    return { code, out };
  };
  const shows = (code: number, out: string) =>
    until(async () => JSON.stringify(await events('')) === JSON.stringify({ code, out })).catch(async () =>
      expect(await events('')).to.deep.equal({ code, out }),
    );

  it('are shown by `events projection`, and retry, skip and are removed as it orders, with the rights of the pages', async function () {
    this.timeout(120_000);
    const consumer = start();
    const running = 'audit: 64 of 64 buckets, 1 instance, ';
    await shows(0, `${running}0 commits behind\n`);
    await append(alice, 'good');
    await allApplied();
    await append(alice, 'bad');
    const stopped = (version: number) =>
      `${running}1 commit behind\n  bucket 39 has stopped at plants/alice@${version}: Error: no tag\n`;
    await shows(1, stopped(2));
    await append(plantsOf('bob'), 'of another bucket');
    await until(() => isApplied(plantsOf('bob')));
    expect(await events(' audit --skip plants/alice@1')).to.include({ code: 1 });
    expect(await events(' audit --skip plants/alice@2')).to.include({ code: 0 });
    await shows(0, `${running}0 commits behind\n`);
    await append(alice, 'bad');
    await shows(1, stopped(3));
    // Once it is repaired, the instance may try by itself before the command.
    expect(await events(' audit --retry')).to.include({ code: 0 });
    consumer.send('repaired');
    await shows(0, `${running}0 commits behind\n`);
    expect((await audit.appliedOf(alice)).map(({ version }) => version)).to.deep.equal([1, 3]);
    consumer.kill('SIGKILL');
    await shows(1, 'audit: 0 of 64 buckets, 0 instances, 0 commits behind\n');
    const checkpoint = opened.checkpoints('audit');
    await checkpoint.save({ key: '39', expected: undefined, values: new Map([['39', 'a value']]) });
    expect(await events(' audit --remove')).to.include({ code: 0 });
    await shows(0, '');
    expect(await checkpoint.load(['39'])).to.deep.equal([undefined]);
    expect(await redis.admin.acl('LOG'), 'what was denied').to.deep.equal([]);
  });

  it('take over the buckets of one that was killed by SIGKILL', async function () {
    this.timeout(120_000);
    const [killed] = await startTwo();
    for (const stream of STREAMS) await append(stream, 'before');
    await allApplied();
    killed.kill('SIGKILL');
    for (const stream of STREAMS) await append(stream, 'after');
    await allApplied();
  });

  it('take over the buckets of one that was frozen by SIGSTOP, whose write is refused when it wakes', async function () {
    this.timeout(120_000);
    const both = await startTwo();
    const frozen = Promise.race(both.map((each) => once(each, 'message').then(() => each)));
    await append(alice, 'slow');
    const holder = await frozen;
    const other = both.find((each) => each !== holder)!;
    holder.kill('SIGSTOP');
    await once(other, 'message');
    other.send('go on');
    await allApplied();
    const refused = once(holder, 'message');
    holder.send('go on');
    holder.kill('SIGCONT');
    expect(await refused).to.deep.equal(['CheckpointConflict', undefined]);
    for (const stream of [alice, ...STREAMS]) await append(stream, 'after');
    await allApplied();
  });
});
