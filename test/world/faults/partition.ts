import { setTimeout as pause } from 'node:timers/promises';
import { primaryOf } from '../topology/topology';
import { type Faults } from './faults';
import { keyOf } from '../../support/keys';

/**
 * A network that is cut for this time. On one side are the first instance and the primary of the first user; on the
 * other, all other servers and instances. Measures when the first instance serves again, from the end of the cut.
 */
export function partitions(lastsMs: number): Faults {
  const cut =
    (away: boolean, back: boolean): Faults[string] =>
    async ({ topology, instances, users, served }) => {
      const network = topology.network!;
      const primary = await primaryOf(keyOf(users[0]!), topology);
      const near = [primary.host, instances[0]!.host];
      const far = network.hosts.filter((host) => !near.includes(host));
      if (away) network.drop(near, far);
      if (back) network.drop(far, near);
      await pause(lastsMs);
      network.heal();
      const healedAt = performance.now();
      await served([instances[0]!]);
      return { times: { 'served after the cut': performance.now() - healedAt } };
    };
  return {
    'cut off the primary both ways': cut(true, true),
    'drop what the primary sends': cut(true, false),
    'drop what the primary receives': cut(false, true),
  };
}
