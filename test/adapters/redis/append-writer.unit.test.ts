import { expect } from 'chai';
import { APPEND } from '../../../src/adapters/redis/stream-scripts';
import { BEGINNING } from '../../../src/event-sourcing';
import { streamName } from '../../../src/testing/a-stream';
import { RedisCommands, type Session } from '../../world/simulated/redis/redis-commands';
import { RedisModel } from '../../world/simulated/redis-model';
import { encoded, ferns } from '../../support/given';
import { ManualClock } from '../../support/manual-clock';
import { FakeServer } from './fake-server';
import { openStore } from './open-store';

const STREAM = streamName('ada');

const SESSION: Session = { lastWrite: 0, instance: 0, node: 0, asking: false };

describe('Appends that wait for a replica', () => {
  let commands: RedisCommands;
  let server: FakeServer;
  let opened: Awaited<ReturnType<typeof openStore>>;
  /** When an append whose script the server knows gets its reply. */
  let mayReply: Promise<void>;
  /** Called at each WAIT. */
  let waits: () => void;

  beforeEach(async () => {
    const model = new RedisModel(1, 1000);
    commands = new RedisCommands({ model, clock: new ManualClock(), replicas: 1 });
    mayReply = Promise.resolve();
    waits = () => {};
    server = await FakeServer.start((args) => {
      if (args[0] !== 'wait') {
        const reply = commands.execute(args, { ...SESSION });
        return args[0] === 'evalsha' ? mayReply.then(() => reply) : reply;
      }
      waits();
      return 1;
    });
    opened = await openStore(server.url, { waitReplicas: 1 });
  });
  afterEach(async () => {
    await opened.close();
    await server.stop();
  });

  const append = async (version: number) => {
    const head = version === 0 ? BEGINNING : { version, commit: `commit ${version}` };
    return (await opened.store.append(STREAM, head, `commit ${version + 1}`, encoded(...ferns(1)))).status;
  };

  it('are sent together with their WAIT, and not one round trip before it', async () => {
    expect(await append(0), 'with the text of the script').to.equal('appended');
    mayReply = new Promise((resolve) => (waits = resolve));

    expect(await append(1)).to.equal('appended');
  });

  it('stay in order if Redis knows the script only after the first one', async () => {
    const { type, data } = encoded(...ferns(1))[0]!;
    const own = ['0', '', 'a commit', '1', '1', '', 'a', type, data];
    const ofBob = ['plant-store:{20}:bob:events', '0', '0', '', String(own.length), ...own];
    // Sent by another instance, between the first batch and the next.
    waits = () => void commands.execute(['eval', APPEND.text, '1', ...ofBob], { ...SESSION });

    const first = append(0);
    // The first batch is sent, and not answered.
    await new Promise(process.nextTick);
    const results = await Promise.all([first, append(1), append(2)]);

    expect(results).to.deep.equal(['appended', 'appended', 'appended']);
  });
});
