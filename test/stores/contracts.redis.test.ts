import { Keys, type RedisOptions, openRedisEventStore } from '../../src/adapters/redis';
import {
  type ContractCase,
  type ContractOptions,
  checkpointStoreContract,
  eventStoreContract,
  snapshotStoreContract,
  streamIndexContract,
} from '../../src/testing';
import {
  type RedisServer,
  type SharedRedis,
  describeRedis,
  describeSharedRedis,
  formCluster,
  startReplicated,
} from '../support/redis';
import { TcpProxy } from '../support/tcp-proxy';
import { until } from '../support/until';

interface StoreOptions extends Omit<ContractOptions, 'pageSize'> {
  readonly pageSize: number;
  /** Called in a test, because only then the servers are known. */
  readonly redis: () => RedisOptions;
  /** Opens a different store of the same servers with these options. */
  readonly beside?: () => Partial<RedisOptions>;
  /** A plain client, to damage a snapshot. */
  readonly admin?: () => SharedRedis['admin'];
}

const SHARED = { durable: true, shared: true, erases: true, timeoutMs: 40_000 };

function casesOf({
  redis,
  beside = () => ({ keyPrefix: `${redis().keyPrefix ?? 'plant-store'}-beside` }),
  admin,
  pageSize,
  ...options
}: StoreOptions): Record<string, ContractCase[]> {
  const openWith = async (changes?: Partial<RedisOptions>) => {
    const opened = await openRedisEventStore({
      timeoutMs: 20_000,
      ...redis(),
      ...changes,
      pageSize,
    });
    // On a busy machine the first contact may take longer than an opening waits for it.
    await until(() => {
      const { reads, writes } = opened.status();
      return reads && writes;
    });
    return opened;
  };
  const open = () => openWith();
  const openBeside = () => openWith(beside());
  const damage = async (stream: Parameters<Keys['of']>[0]) => {
    await admin!().hset(
      new Keys(redis().keyPrefix ?? 'plant-store').of(stream).snapshot,
      '1',
      'damaged',
    );
  };
  return {
    'an event store': eventStoreContract(open, { ...SHARED, ...options, pageSize }),
    'a stream index': streamIndexContract(open, { ...SHARED, ...options, openBeside }),
    'a snapshot store': snapshotStoreContract(open, {
      ...SHARED,
      ...options,
      ...(admin && { damage }),
    }),
    'a checkpoint store': checkpointStoreContract(open, { ...SHARED, ...options }),
  };
}

function satisfies(contracts: Record<string, ContractCase[]>): void {
  for (const [port, cases] of Object.entries(contracts))
    describe(`satisfies the contract of ${port}:`, () => {
      // Cases are selected by their names, which may change.
      if (cases.length === 0) throw new Error(`no case of the contract of ${port} is left`);
      for (const { name, run } of cases) it(name, run);
    });
}

describeSharedRedis('One Redis', (redis) => {
  for (const pageSize of [1, 1000])
    describe(`with pages of ${pageSize}`, () => {
      const options = () => ({ url: redis.url, keyPrefix: redis.prefix });
      const empty = async () => {
        await redis.admin.unlink(await redis.admin.keys(`${redis.prefix}:*`));
      };
      satisfies(casesOf({ pageSize, redis: options, admin: () => redis.admin, empty }));
    });
});

describeRedis('A Redis with a replica that confirms writes', (startRedis) => {
  let primary: RedisServer;
  before(async () => {
    [primary] = await startReplicated(startRedis);
  });
  // An emptied store may be given the id that it had, because an operator has configured it.
  const empty = async () => {
    const id = await primary.admin.get('plant-store:id');
    await primary.admin.flushall();
    if (id) await primary.admin.set('plant-store:id', id);
  };
  const redis = () => ({ url: primary.url, waitReplicas: 1 });
  const beside = () => ({ url: `${primary.url}/1` });
  satisfies(casesOf({ pageSize: 3, redis, beside, empty }));
});

describeRedis('A Cluster of three primaries', (startRedis) => {
  let options: RedisOptions;
  let nodes: RedisServer[];
  before(async () => {
    nodes = await Promise.all([1, 2, 3].map(() => startRedis('--cluster-enabled', 'yes')));
    await formCluster(nodes);
    options = { url: nodes[0]!.url, clusterNodes: nodes.map(({ host, port }) => ({ host, port })) };
  });
  const empty = async () => {
    await Promise.all(nodes.map(({ admin }) => admin.flushall()));
  };
  satisfies(casesOf({ pageSize: 3, redis: () => options, empty }));
});

describeRedis('A Redis behind a network that loses replies', (startRedis) => {
  let server: RedisServer;
  before(async () => (server = await startRedis()));
  for (const connection of ['cut', 'left open'] as const)
    describe(`(the connection is ${connection})`, () => {
      let proxy: TcpProxy;
      before(async () => (proxy = await TcpProxy.to(server)));
      after(() => proxy.close());
      const contracts = casesOf({
        pageSize: 3,
        redis: () => ({ url: `redis://127.0.0.1:${proxy.port}`, timeoutMs: 1000 }),
        loseReply: () =>
          void proxy.loseReply(
            (request) => /evalsha/i.test(request.toString('latin1')),
            connection,
          ),
      });
      for (const [port, cases] of Object.entries(contracts))
        // Each takes until its time limit if the connection stays open.
        if (connection === 'cut' || port === 'an event store')
          satisfies({ [port]: cases.filter(({ name }) => name.includes('whose reply is lost')) });
    });
});
