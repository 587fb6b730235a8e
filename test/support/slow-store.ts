import type { PlantEvent } from '../../src/domain';
import { setTimeout as delay } from 'node:timers/promises';
import { MemoryEventStore } from '../../src/adapters/memory/event-store';
import type { EventStore, Head, StreamName } from '../../src/event-sourcing';

/** The in-memory store behind a slow network: it executes calls at once, but delays the replies. */
export class SlowStore implements EventStore<PlantEvent> {
  /** Delay of every reply in ms, also of replies in flight. */
  delayMs = 0;
  /** The number of calls. */
  trips = 0;
  readonly #store = new MemoryEventStore<PlantEvent>();

  async read(stream: StreamName, after: Head) {
    return this.#late(this.#store.read(stream, after));
  }

  async append(stream: StreamName, expected: Head, commit: string, events: readonly PlantEvent[]) {
    return this.#late(this.#store.append(stream, expected, commit, events));
  }

  async #late<T>(reply: Promise<T>): Promise<T> {
    this.trips++;
    const since = performance.now();
    while (performance.now() - since < this.delayMs) await delay(5);
    return reply;
  }
}
