import { KINDS, keysOf } from '../../src/adapters/redis/stream-key';
import type { StreamName } from '../../src/event-sourcing';
import { plantsOf } from './given';

export type KeyKind = (typeof KINDS)[number];

/** A key of a stream in Redis. */
export function streamKeyOf(stream: StreamName, prefix: string, kind: KeyKind): string {
  return keysOf(prefix, stream)[KINDS.indexOf(kind)]!;
}

/** A key of a user's plants in Redis. */
export function keyOf(user: string, prefix = 'plant-store', kind: KeyKind = 'events'): string {
  return streamKeyOf(plantsOf(user), prefix, kind);
}
