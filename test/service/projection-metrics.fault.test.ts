import { expect } from 'chai';
import { openRedisEventStore } from '../../src/adapters/redis';
import { system } from '../../src/adapters/system';
import { plantCodec } from '../../src/application';
import { BEGINNING, atLeastOnce, project } from '../../src/event-sourcing';
import { created, encoded, plantsOf } from '../support/given';
import { type RedisServer, describeOwnRedis } from '../support/redis';
import { SERVICE_RULES } from '../support/redis/acl';
import { until } from '../support/until';
import { type WatchedService, startWatched } from '../support/watched-service';

describeOwnRedis('The metrics of projections', (startRedis) => {
  let redis: RedisServer;
  let service: WatchedService;
  beforeEach(async () => {
    redis = await startRedis();
    await redis.admin.acl('SETUSER', 'service', ...SERVICE_RULES);
    const url = Object.assign(new URL(redis.url), { username: 'service', password: 'secret' }).href;
    service = await startWatched({ EVENT_STORE: 'redis', REDIS_URL: url });
  });
  afterEach(() => service.stop());

  async function metrics(): Promise<readonly string[]> {
    const text = await (await fetch(`${service.url}/metrics`)).text();
    return text.split('\n').filter((line) => line.startsWith('plant_store_projection_'));
  }
  const expected = (running: number, stopped: number, unassigned: number, lag: number) => [
    `plant_store_projection_buckets{projection="tags",state="running"} ${running}`,
    `plant_store_projection_buckets{projection="tags",state="stopped"} ${stopped}`,
    `plant_store_projection_buckets{projection="tags",state="unassigned"} ${unassigned}`,
    `plant_store_projection_lag_commits{projection="tags"} ${lag}`,
  ];
  const become = (values: readonly string[]) =>
    until(async () => String(await metrics()) === String(values)).catch(async () =>
      expect(await metrics()).to.deep.equal(values),
    );

  /** A projection that cannot apply alice's events, in a process of its own as far as the store knows. */
  async function start() {
    const opened = await openRedisEventStore({ url: redis.url });
    project(opened, {
      ...system(),
      codec: plantCodec,
      leases: { store: opened.leases, projection: 'tags', instance: 'one', takeOverMs: 400 },
      ...atLeastOnce(opened.checkpoints('tags'), (slices) => {
        if (slices.some(({ stream }) => stream === plantsOf('alice'))) throw new Error('no tag');
      }),
    });
    return opened;
  }

  it('show stopped buckets, commits behind, and a projection whose process is gone', async () => {
    expect(await metrics()).to.deep.equal([]);
    const { store, close } = await start();
    await become(expected(64, 0, 0, 0));
    await store.append(plantsOf('alice'), BEGINNING, 'a', encoded(created(1, 'Fern')));
    await store.append(plantsOf('bob'), BEGINNING, 'b', encoded(created(1, 'Fern')));
    await become(expected(63, 1, 0, 1));
    // As if it was killed: it cannot give up its leases.
    close();
    await become(expected(0, 0, 64, 1));
    expect(await redis.admin.acl('LOG'), 'what was denied').to.deep.equal([]);
  });

  it('are missing without the rights for them, and the log says so once', async () => {
    await redis.admin.acl('SETUSER', 'service', 'clearselectors');
    expect([await metrics(), await metrics()]).to.deep.equal([[], []]);
    const lines = service.log.filter((line) => line.includes('the projections cannot be read'));
    expect(lines).to.have.length(1);
    expect(lines[0]).to.match(/NOPERM|can't run this command/);
  });
});
