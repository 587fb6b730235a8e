import { userNames } from './histories';
import type { Goal } from './report';
import { LONG, READINESS } from './service';
import type { ClientGroup, Figures } from './workload';

/** Small users that go on listing and creating while others make trouble. */
export const NEIGHBOURS = userNames('neighbour', 3);

export const NEIGHBOURS_AND_PROBES: readonly ClientGroup[] = [
  { name: 'neighbours', users: NEIGHBOURS, get: ['/plants'], create: { nameLength: 12 }, everyMs: 100 },
  READINESS,
];

/** In a long run: a short one may share the machine with other tests. */
const P99_MS = LONG ? 1000 : Infinity;

/** Every request of neighbours and probes succeeds, that of a neighbour soon. */
export function undisturbed({ groups }: Figures, when = ''): Goal[] {
  const { neighbours, readiness } = groups;
  return [
    { what: `failures of neighbours${when}`, is: neighbours!.failures, atMost: 0 },
    { what: `probes that did not find it ready${when}`, is: readiness!.failures, atMost: 0 },
    { what: `p99 of neighbours${when}, in ms`, is: neighbours!.succeeded.p99, atMost: P99_MS, latency: true },
  ];
}
