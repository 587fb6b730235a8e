/** Sends every new event of plants to a URL: at least once, and in the order of each user. */
import { hostname } from 'node:os';
import type { OpenRedisEventStore } from 'plant-store/adapters/redis';
import { system } from 'plant-store/adapters/system';
import { plantCodec } from 'plant-store/application';
import type { PlantEvent } from 'plant-store/domain';
import {
  type ProjectedStore,
  type Projection,
  atLeastOnce,
  partsOf,
  project,
} from 'plant-store/event-sourcing';

/** The receiver has to accept an event within this time. */
const TIMEOUT_MS = 5000;

/**
 * A receiver that does not accept an event stops the events of some users, until it does. It gets an event again if this
 * process dies, or if another event of the same batch fails: the header `Idempotency-Key` identifies the event.
 */
export function sendEvents(
  store: ProjectedStore & Pick<OpenRedisEventStore, 'checkpoints' | 'leases'>,
  url: string,
  from: 'beginning' | 'end' = 'end',
): Projection<PlantEvent> {
  return project<PlantEvent>(store, {
    codec: plantCodec,
    ...system(),
    from,
    follows: (stream) => partsOf(stream).category === 'plants',
    leases: { store: store.leases, projection: 'webhook', instance: `${hostname()}-${process.pid}` },
    ...atLeastOnce<PlantEvent>(store.checkpoints('webhook'), async (slices) => {
      for (const { stream, events } of slices)
        for (const { version, commit, event } of events) {
          const response = await fetch(url, {
            method: 'POST',
            headers: { 'Content-Type': 'application/json', 'Idempotency-Key': `${commit}-${version}` },
            body: JSON.stringify({ user: partsOf(stream).id, version, ...event }),
            signal: AbortSignal.timeout(TIMEOUT_MS),
          });
          await response.arrayBuffer();
          if (!response.ok) throw new Error(`the receiver answered ${response.status}`);
        }
    }),
    observer: {
      stopped: ({ bucket, error }) => console.error(`bucket ${bucket} waits for the receiver:`, error),
    },
  });
}
