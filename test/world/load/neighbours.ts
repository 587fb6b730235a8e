import { userNames } from './histories';
import type { Goal } from './report';
import { LONG, READINESS } from './service';
import type { ClientGroup, Figures } from './workload';

/** Small users that list and create while other users cause load. */
export const NEIGHBOURS = userNames('neighbour', 3);

export const NEIGHBOURS_AND_PROBES: readonly ClientGroup[] = [
  { name: 'neighbours', users: NEIGHBOURS, get: ['/plants'], create: { nameLength: 12 }, everyMs: 100 },
  READINESS,
];

/** Bound in a long run. A short run may share the machine with other tests. */
const P99_MS = LONG ? 1000 : Infinity;

/** All requests of neighbours and probes succeed, and those of neighbours quickly. */
export function undisturbed({ groups }: Figures, when = ''): Goal[] {
  const { neighbours, readiness } = groups;
  return [
    { what: `failures of neighbours${when}`, is: neighbours!.failures, atMost: 0 },
    { what: `probes that did not find it ready${when}`, is: readiness!.failures, atMost: 0 },
    { what: `p99 of neighbours${when}, in ms`, is: neighbours!.succeeded.p99, atMost: P99_MS, latency: true },
  ];
}
