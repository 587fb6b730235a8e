import { expect } from 'chai';
import { ChangeNotifier } from '../../../src/adapters/redis/change-notifier';
import { RedisConnection } from '../../../src/adapters/redis/connection';
import { plantCodec } from '../../../src/application';
import type { PlantEvent } from '../../../src/domain';
import { BEGINNING, type Head, headOf } from '../../../src/event-sourcing';
import { streamName } from '../../../src/testing/a-stream';
import { created } from '../../event-sourcing/pending-request';
import { RedisCommands } from '../../world/simulated/redis/redis-commands';
import { RedisModel } from '../../world/simulated/redis-model';
import { ManualClock } from '../../support/manual-clock';
import { until } from '../../support/until';
import { FakeServer } from './fake-server';

const STREAM = streamName('ada');

/** What to end after the test. */
let ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.reverse()) await end();
  ends = [];
});

describe('The notifier of changes, after its connection was lost', () => {
  let model: RedisModel<PlantEvent>;
  let server: FakeServer;
  let notifier: ChangeNotifier;
  /** The ids after which blocking reads waited. */
  let reads: string[];

  /** A server with the events of the model. */
  async function start(port?: number): Promise<void> {
    const commands = new RedisCommands({ model, codec: plantCodec, clock: new ManualClock(), replicas: 0 });
    const started = await FakeServer.start((args) => {
      if (args[0]?.toLowerCase() === 'xread') reads.push(args.at(-1)!);
      return commands.execute(args, { lastWrite: 0, instance: 0, node: 0, asking: false });
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
    const result = model.append(STREAM, head, `commit ${head.version}`, [created(head.version, 'Fern')]);
    return result.status === 'appended' ? result.head : BEGINNING;
  }

  /** Waits for a change after this head. */
  function wait(after: Head): { notified: boolean } {
    const waiting = { notified: false };
    notifier.notify(STREAM, after, () => (waiting.notified = true));
    return waiting;
  }

  beforeEach(async () => {
    model = new RedisModel<PlantEvent>(0, 1000);
    reads = [];
    await start();
    const url = `redis://127.0.0.1:${server.port}`;
    const connect = () => new RedisConnection({ url, timeoutMs: 2000, waitReplicas: 0, report: () => {} });
    notifier = new ChangeNotifier(connect, 'plant-store');
    ends.push(() => notifier.close());
  });

  it('notifies a subscriber whose events the restarted server does not have', async () => {
    record();
    const waiting = wait(record());
    await until(() => reads.includes('2-0'));
    model.loseWrites(1);

    await restart();

    await until(() => waiting.notified);
  });

  it('waits on the new connection for the changes of a subscriber', async () => {
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
