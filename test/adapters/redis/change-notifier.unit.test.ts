import { expect } from 'chai';
import { ChangeNotifier } from '../../../src/adapters/redis/change-notifier';
import { RedisConnection } from '../../../src/adapters/redis/connection';
import { connectRedisEventStore } from '../../../src/adapters/redis/open';
import { BEGINNING, type Head, headOf } from '../../../src/event-sourcing';
import { streamName } from '../../../src/testing/a-stream';
import { RedisCommands } from '../../world/simulated/redis/redis-commands';
import { RedisModel } from '../../world/simulated/redis-model';
import { ManualClock } from '../../support/manual-clock';
import { until } from '../../support/until';
import { FakeServer } from './fake-server';
import { created, encoded } from '../../support/given';

const STREAM = streamName('ada');

/** What to end after the test. */
let ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.reverse()) await end();
  ends = [];
});

describe('The notifier of changes', () => {
  let model: RedisModel;
  let server: FakeServer;
  let notifier: ChangeNotifier;
  /** The ids after which blocking reads waited. */
  let reads: string[];
  /** For how many ms they blocked at most. */
  let blocks: string[];
  /** Whether the server was demoted, and has no newer events. Its address leads new connections to the new primary. */
  let demoted: boolean;

  /** A server with the events of the model. */
  async function start(port?: number): Promise<void> {
    const commands = new RedisCommands({ model, clock: new ManualClock(), replicas: 0 });
    const started = await FakeServer.start((args) => {
      if (args[0] === 'hello') demoted = false;
      if (args[0]?.toLowerCase() === 'xread') {
        reads.push(args.at(-1)!);
        blocks.push(args[args.indexOf('BLOCK') + 1]!);
      }
      const replica = demoted ? { replicaOf: new Map() } : {};
      return commands.execute(args, { ...replica, lastWrite: 0, instance: 0, node: 0, asking: false });
    }, port);
    server = started;
    ends.push(() => started.stop());
  }

  async function restart(): Promise<void> {
    const { port } = server;
    await server.stop();
    ends.pop();
    reads = [];
    await start(port);
  }

  /** Records an event, and returns its head. */
  function record(): Head {
    const head = headOf(model.history(STREAM).at(-1) ?? BEGINNING);
    const result = model.append(
      STREAM,
      head,
      `commit ${head.version}`,
      encoded(created(head.version, 'Fern')),
    );
    return result.status === 'appended' ? result.head : BEGINNING;
  }

  /** Waits for a change after this head. */
  function wait(after: Head): { notified: boolean; cancel: () => void } {
    const cancel = notifier.notify(STREAM, after, () => (waiting.notified = true));
    const waiting = { notified: false, cancel };
    return waiting;
  }

  beforeEach(async () => {
    model = new RedisModel(0, 1000);
    blocks = [];
    reads = [];
    demoted = false;
    await start();
    const { url } = server;
    const options = { url, timeoutMs: 2000, waitReplicas: 0, report: () => {}, examineEveryMs: 1_000_000 };
    const connect = () => new RedisConnection(options);
    notifier = new ChangeNotifier(connect, 'plant-store');
    ends.push(() => notifier.close());
  });

  it('reads for 10 ms after a change, so that the subscriber that reads then waits soon, and else for 100 ms', async () => {
    notifier.notify(streamName('another'), BEGINNING, () => {});
    const waiting = wait(BEGINNING);
    await until(() => blocks.length > 0);
    record();
    await until(() => waiting.notified);
    await until(() => blocks.includes('10') && blocks.at(-1) === '100');
    expect(blocks.filter((block, index) => block !== blocks[index - 1])).to.deep.equal(['100', '10', '100']);
  });

  it('notifies each subscriber of a stream that has newer events than its own', async () => {
    const first = record();
    const [behind, current] = [wait(first), wait(record())];

    await until(() => behind.notified);
    expect(current.notified, 'all of a stream are notified').to.equal(true);
  });

  it('waits no more for a subscriber that was cancelled, and closes its connection', async () => {
    const waiting = wait(BEGINNING);
    await until(() => reads.includes('0-0'));
    expect(server.connections).to.equal(1);

    waiting.cancel();

    await until(() => server.connections === 0);
    expect(waiting.notified).to.equal(false);
  });

  it('waits for a subscriber although an earlier one of its stream is cancelled after its notification', async () => {
    const earlier = wait(BEGINNING);
    const head = record();
    await until(() => earlier.notified);
    const waiting = wait(head);
    earlier.cancel();

    record();

    await until(() => waiting.notified);
  });

  it('closes its connection with the store, although subscribers wait', async () => {
    const store = connectRedisEventStore({ url: server.url });
    ends.push(() => store.close());
    await store.examined;
    let notified = 0;
    const waitAgain = () => {
      store.store.notify!(STREAM, BEGINNING, () => {
        if (++notified < 2) waitAgain();
      });
    };
    waitAgain();
    await until(() => reads.includes('0-0'));

    store.close();

    await until(() => server.connections === 0);
    // They read, and learn that the store was closed.
    await until(() => notified === 2);
    expect(server.connections).to.equal(0);
  });

  it('does not wait on a server that was demoted', async () => {
    const waiting = wait(record());
    await until(() => reads.includes('1-0'));
    demoted = true;
    record();

    await until(() => waiting.notified);
  });

  it('after its connection was lost, notifies a subscriber whose events the restarted server does not have', async () => {
    record();
    const waiting = wait(record());
    await until(() => reads.includes('2-0'));
    model.loseWrites(1);

    await restart();

    await until(() => waiting.notified);
  });

  it('after its connection was lost, waits on the new connection for the changes of a subscriber', async () => {
    const head = record();
    const lost = wait(head);
    await until(() => reads.includes('1-0'));
    await restart();
    await until(() => lost.notified);

    const waiting = wait(head);
    await until(() => reads.includes('1-0'));
    expect(waiting.notified).to.equal(false);
    record();

    await until(() => waiting.notified);
    expect(model.history(STREAM)).to.have.length(2);
  });
});
