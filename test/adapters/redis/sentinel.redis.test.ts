import { expect } from 'chai';
import { paste, theBlock } from '../../docs/shell';
import { HttpClient } from '../../support/client';
import { instancesPerTest } from '../../support/instance';
import { describePrograms } from '../../support/programs';
import { until } from '../../support/until';
import { sentinel } from '../../world/topology/sentinel';
import { type Topology, stop } from '../../world/topology/topology';
import { keyOf } from '../../support/keys';

const KEY = keyOf('alice');

describePrograms({ 'redis-server': 'redis-server' }, 'With three Sentinels', () => {
  const startInstances = instancesPerTest();
  let topology: Topology;

  beforeEach(async () => {
    topology = await sentinel({ replicas: 1 }).start(Math.random);
  });
  afterEach(() => stop(topology));

  it('the service follows a planned failover while the old primary still accepts writes', async () => {
    const [instance] = await startInstances(1, topology.environment);
    const alice = new HttpClient(instance!.url);
    await alice.create(1, 'Fern');
    const [primary, replica] = topology.nodes;
    // Otherwise a Sentinel would demote the old primary about ten seconds later.
    await primary!.call('ACL', 'SETUSER', 'default', '-replicaof', '-slaveof');
    const command = theBlock('sh failover sentinel').text.replace(
      ':26379',
      `:${topology.sentinels[0]!.port}`,
    );
    // The Sentinel refuses the command while it fails over.
    await until(async () => {
      await paste(command);
      return (await topology.primaries())[0] === replica;
    });
    let id = 100;
    await until(async () => {
      await alice.create(id++, 'Moss');
      return Number(await replica!.call('XLEN', KEY)) > 1;
    });

    expect(((await primary!.call('ROLE')) as unknown[])[0]).to.equal('master');
    const before = await primary!.call('XLEN', KEY);
    expect(await alice.create(2, 'Ivy')).to.include({ status: 200 });
    expect(await primary!.call('XLEN', KEY)).to.equal(before);
    expect(instance!.log.map(({ msg }) => msg)).to.include('Redis fails over to another primary');
  });
});
