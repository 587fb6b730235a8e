import { KINDS, keysOf } from '../../src/adapters/redis/stream-key';
import type { StreamName } from '../../src/event-sourcing';
import { plantsOf } from './given';

export type Kind = (typeof KINDS)[number];

/** A key of a stream in Redis. */
export function streamKeyOf(stream: StreamName, prefix: string, kind: Kind): string {
  return keysOf(prefix, stream)[KINDS.indexOf(kind)]!;
}

/** A key of a user's plants in Redis. */
export function keyOf(user: string, prefix = 'plant-store', kind: Kind = 'events'): string {
  return streamKeyOf(plantsOf(user), prefix, kind);
}
