import { expect } from 'chai';
import type { RedisOptions } from '../../../src/adapters/redis';
import { BEGINNING, OutcomeUnknown } from '../../../src/event-sourcing';
import { type RedisServer, describeRedis, startReplicated } from '../../support/redis';
import { rejection } from '../../support/rejection';
import { TcpProxy } from '../../support/tcp-proxy';
import { succeeds, until } from '../../support/until';
import { CALLS, fill, openedPerTest, REFUSED } from './opened';

const users = (count: number) => Array.from({ length: count }, (_, index) => `user-${index + 10}`);

describeRedis('A write to Redis', (startRedis) => {
  const opened = openedPerTest();
  let primary: RedisServer;
  let replica: RedisServer;
  beforeEach(async () => {
    [primary, replica] = await startReplicated(startRedis, '--repl-ping-replica-period', '3600');
  });

  async function open(options: Partial<RedisOptions> = {}) {
    const store = await opened({ url: primary.url, waitReplicas: 1, ...options });
    await until(() => store.status().id !== undefined);
    const append = (user: string, commit?: string) =>
      store.append(user, commit).then(
        ({ status }) => status,
        (error: unknown) => error as Error,
      );
    return { ...store, append };
  }
  const isRecorded = async ({ admin }: RedisServer, user: string) =>
    (await admin.keys(`*/${user}:events`)).length === 1;
  const isWaiting = async () => (await primary.admin.info('clients')).includes('blocked_clients:1');

  it('is acknowledged when the replica has confirmed it, but a conflict needs no confirmation', async () => {
    const { append, checkpoints, snapshots, stream } = await open();
    await replica.freeze();
    const written = append('alice');
    await until(isWaiting);
    expect(await Promise.race([written, primary.admin.ping()])).to.equal('PONG');
    await replica.thaw();
    expect(await written).to.equal('appended');
    expect(await isRecorded(replica, 'alice')).to.equal(true);
    await replica.freeze();
    expect(await append('alice', 'another')).to.equal('conflict');
    // Neither a snapshot nor a checkpoint needs the replica.
    const head = { version: 1, commit: 'ours' };
    const saved = { format: 'f', head, chunks: ['a'] };
    expect(await snapshots.save(stream().name, saved)).to.equal(true);
    expect(await snapshots.load(stream().name)).to.include({ format: 'f' });
    const tags = checkpoints('tags');
    const position = { epoch: 'e', sequence: 1 };
    await tags.save({ bucket: 39, expectedRevision: 0, position, heads: new Map() });
    expect(await tags.load(39, [])).to.include({ revision: 1 });
  });

  it('shares one script and one WAIT with the other writes of its turn, and a read shares one script', async () => {
    const { append, stream } = await open();
    await append('bob');
    await primary.admin.config('RESETSTAT');
    expect(new Set(await Promise.all(users(50).map((user) => append(user))))).to.have.all.keys(
      'appended',
    );
    await Promise.all(users(50).map((user) => stream(user).read(BEGINNING)));
    const stats = await primary.admin.info('commandstats');
    for (const once of ['wait', 'evalsha', 'eval'])
      expect(stats).to.include(`cmdstat_${once}:calls=1,`);
  });

  it('is followed by WAIT before its reply arrives', async () => {
    const proxy = await TcpProxy.to(primary);
    const { append } = await open({ url: `redis://127.0.0.1:${proxy.port}` });
    await append('bob');
    await replica.freeze();
    void proxy.loseReply((bytes) => /evalsha/i.test(bytes.toString('latin1')), 'left open');
    const answer = append('alice');
    await until(isWaiting);
    await proxy.close();
    expect(await answer).to.be.instanceOf(OutcomeUnknown);
  });

  it('has an unknown outcome if too few replicas confirm it, which WAIT reports before the time limit', async () => {
    await open();
    const { append } = await open({ waitReplicas: 2, timeoutMs: 4000 });
    expect(String(await append('alice'))).to.match(
      /^OutcomeUnknown: Redis did not confirm the write: 2 replicas must confirm it: [01]$/,
    );
  });

  it('has an unknown outcome if its primary is demoted while it waits', async () => {
    const { append } = await open();
    await replica.freeze();
    const written = append('alice');
    await until(isWaiting);
    await primary.admin.replicaof(...replica.peer);
    expect(await written).to.be.instanceOf(OutcomeUnknown);
  });

  // WAIT is about the last write of its connection, so a repetition that wrote nothing would be
  // confirmed at once.
  it('writes something when it is repeated, so that WAIT waits for it', async () => {
    const { append } = await open({ waitReplicas: 0 });
    const offset = async () =>
      Number(/master_repl_offset:(\d+)/.exec(await primary.admin.info('replication'))![1]);
    await append('alice');
    const before = await offset();
    expect(await append('alice')).to.equal('appended');
    expect(await offset()).to.be.above(before);
  });

  // An append of this test has 23 bytes.
  for (const [what, bounds] of Object.entries({
    calls: { calls: 5, bytes: 1_000_000 },
    bytes: { calls: 1000, bytes: 5 * 23 },
  }))
    it(`waits in a bounded queue while another write waits for replicas: a bound on ${what}`, async () => {
      const { append, status } = await open({ timeoutMs: 1000, bounds });
      await replica.freeze();
      const first = append('first');
      await until(isWaiting);
      const answers = users(20).map((user) => append(user));
      for (const answer of answers.slice(4))
        expect(await answer).to.include({ name: 'StoreUnavailable', reason: 'waiting_calls' });
      expect(status().calls).to.include({ calls: 5, shed: 16 });
      expect(await first).to.be.instanceOf(OutcomeUnknown);
      // The replica is connected, so no examination finds it.
      await until(() => status().findings.replicas_missing, 5000);
      await until(() => status().calls.calls === 0);
      expect(status().calls.bytes).to.equal(0);
    });

  it('is unavailable if it cannot be sent in time, and is never sent later', async () => {
    const { append, status } = await open({ timeoutMs: 600 });
    await append('bob');
    await primary.freeze();
    const sent = append('sent');
    await new Promise(process.nextTick);
    const unsent = append('unsent');
    expect(await sent).to.be.instanceOf(OutcomeUnknown);
    expect(await unsent).to.include({ message: 'the call could not be sent to Redis in time' });
    expect(status().calls.calls).to.be.at.least(1);
    await primary.thaw();
    await until(() => status().calls.calls === 0);
    await until(async () => (await append('later')) === 'appended');
    expect(await isRecorded(primary, 'unsent')).to.equal(false);
    expect(status().calls).to.include({ calls: 0, bytes: 0 });
  });
});

describeRedis('A primary that replicas must confirm (min-replicas-to-write)', (startRedis) => {
  const open = openedPerTest();

  it('is refused once the replicas stop confirming it, and is used again when they confirm it', async () => {
    const lease = ['--min-replicas-to-write', '1', '--min-replicas-max-lag', '1'];
    const [primary, replica] = await startReplicated(startRedis, ...lease);
    const opened = await open({ url: primary.url });
    const isRead = () => succeeds(opened.stream().read(BEGINNING));
    await until(() => succeeds(fill(opened)));
    await replica.freeze();
    await until(async () => !(await isRead()));
    for (const [what, call] of Object.entries(CALLS))
      expect(await rejection(call(opened)), what).to.include(REFUSED);
    expect(opened.status()).to.deep.include({ writes: false, refusals: ['replicas_missing'] });
    await replica.thaw();
    await until(isRead);
    expect(await opened.stream().history()).to.have.length(2);
  });
});
