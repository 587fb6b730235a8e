import { setImmediate as immediate } from 'node:timers/promises';
import { expect } from 'chai';
import { APPEND } from '../../../src/adapters/redis/stream-scripts';
import { streamKey } from '../../../src/adapters/redis/stream-key';
import { BEGINNING, OutcomeUnknown, StoreUnavailable } from '../../../src/event-sourcing';
import {
  checkpointStoreContract,
  leaseStoreContract,
  snapshotStoreContract,
  streamArchiveContract,
  streamCatalogueContract,
} from '../../../src/testing';
import { streamName } from '../../../src/testing/a-stream';
import { CONTRACT_OPTIONS, describeContract, describeEventStore } from '../../contracts/event-store';
import { HttpClient, servedInTime } from '../../support/client';
import { encoded, created } from '../../support/given';
import { startInstance } from '../../support/instance';
import { type RedisServer, describeOwnRedis } from '../../support/redis';
import { formCluster } from '../../support/redis/form-cluster';
import { TcpProxy } from '../../support/tcp-proxy';
import { until } from '../../support/until';
import { openStore } from './open-store';

const FEED_LENGTH = 200;

describeOwnRedis('On a Redis Cluster', (startRedis) => {
  let node: RedisServer;
  let proxy: TcpProxy;

  /** A cluster of one node, whose clients connect through the proxy. */
  before(async () => {
    node = await startRedis('--cluster-enabled', 'yes');
    const { hostname } = new URL(node.url);
    proxy = await TcpProxy.to({ host: hostname, port: node.port });
    await formCluster([node], [proxy.port]);
  });

  after(() => proxy.close());

  const openWith = (keyPrefix: string) =>
    openStore('redis://127.0.0.1', {
      clusterNodes: [{ host: '127.0.0.1', port: proxy.port }],
      pageSize: 3,
      feedLength: FEED_LENGTH,
      keyPrefix,
    });
  const open = () => openWith('plant-store');

  describeEventStore({
    name: 'RedisEventStore',
    pageSize: 3,
    feedLength: FEED_LENGTH,
    durable: true,
    shared: true,
    loseEvents: async (stream) => {
      await node.admin.del(streamKey('contract', stream));
    },
    // A prefix of its own: the catalogue would report the bases whose streams are missing.
    open: () => openWith('contract'),
  });

  describeContract(
    'RedisStreamCatalogue satisfies the contract of a stream catalogue',
    streamCatalogueContract(open, { ...CONTRACT_OPTIONS, durable: true, shared: true }),
  );

  describeContract(
    'RedisSnapshotStore satisfies the contract of a snapshot store',
    snapshotStoreContract(open, { ...CONTRACT_OPTIONS, durable: true, shared: true }),
  );
  describeContract(
    'RedisStreamArchive satisfies the contract of a stream archive',
    streamArchiveContract(open, { ...CONTRACT_OPTIONS, durable: true, shared: true }),
  );

  describeContract(
    'RedisCheckpoints satisfy the contract of a checkpoint store',
    checkpointStoreContract(open, { ...CONTRACT_OPTIONS, durable: true, shared: true, erases: true }),
  );

  describeContract(
    'RedisLeases satisfy the contract of a lease store',
    leaseStoreContract(open, { ...CONTRACT_OPTIONS, durable: true, shared: true }),
  );

  it('the service serves, and serves again soon after its connections were reset', async () => {
    const instance = await startInstance({ REDIS_CLUSTER_NODES: `127.0.0.1:${proxy.port}` });
    const alice = new HttpClient(instance.url);
    expect((await alice.create(1, 'Fern')).status).to.equal(200);
    expect((await fetch(`${instance.url}/health/ready`)).status).to.equal(200);

    proxy.cut();
    await servedInTime(() => alice.list());
    const lost = proxy.loseReply((bytes) => bytes.includes('evalsha'), 'cut');
    expect((await alice.create(2, 'Moss')).status).to.equal(200);

    await lost;
    expect((await alice.list()).names).to.deep.equal(['Fern', 'Moss']);
    await instance.stop();
  });

  it('the service is not ready while the Cluster is down', async () => {
    const instance = await startInstance({ REDIS_CLUSTER_NODES: `127.0.0.1:${proxy.port}` });
    const ready = async () => (await fetch(`${instance.url}/health/ready`)).status;
    const readyIs = (status: number) => until(async () => (await ready()) === status);
    await readyIs(200);

    await node.admin.call('CLUSTER', 'DELSLOTS', '0');
    await readyIs(503);
    expect((await new HttpClient(instance.url).list()).error).to.equal(50300);

    await node.admin.call('CLUSTER', 'ADDSLOTS', '0');
    await readyIs(200);
    await instance.stop();
  });

  it('an append whose reply was lost is not sent again by ioredis', async () => {
    const { store, close } = await open();
    await node.admin.script('LOAD', APPEND.text);
    const lost = proxy.loseReply((bytes) => bytes.includes('evalsha'), 'cut');

    const failure = await store
      .append(streamName('bob'), BEGINNING, 'ours', encoded(created(1, 'Fern')))
      .catch((error: unknown) => error);

    await lost;
    await close();
    expect(failure).to.be.an.instanceOf(OutcomeUnknown);
  });
});

describeOwnRedis('On a Redis Cluster of two primaries', (startRedis) => {
  it('the catalogue leaves out no stream of a primary whose connections were reset', async () => {
    const nodes = [
      await startRedis('--cluster-enabled', 'yes'),
      await startRedis('--cluster-enabled', 'yes'),
    ];
    const proxy = await TcpProxy.to({ port: nodes[1]!.port });
    await formCluster(nodes, [undefined, proxy.port]);
    const { store, catalogue, close } = await openStore('redis://127.0.0.1', {
      clusterNodes: [{ host: '127.0.0.1', port: nodes[0]!.port }],
    });
    const streams = Array.from({ length: 20 }, (_, index) => streamName(`user ${index}`));
    for (const stream of streams) await store.append(stream, BEGINNING, 'ours', encoded(created(1, 'Fern')));
    const listed = async () => {
      const names: string[] = [];
      for await (const found of catalogue.streams()) if ('stream' in found) names.push(found.stream);
      return names.sort();
    };
    expect(await listed()).to.deep.equal([...streams].sort());

    // From the loss of the connection on, also before the client has another one.
    proxy.cut();
    for (let times = 0, served = false; times < 50 || !served; times++) {
      await immediate();
      const result = await listed().catch((error: unknown) => error);
      served = Array.isArray(result);
      if (!served) expect(result).to.be.an.instanceOf(StoreUnavailable);
      else expect(result).to.deep.equal([...streams].sort());
    }
    await close();
    await proxy.close();
  });
});
