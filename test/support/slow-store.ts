import { setTimeout as delay } from 'node:timers/promises';
import { MemoryEventStore } from '../../src/adapters/memory/event-store';
import type { EventStore } from '../../src/application';

/** The in-memory store at the end of a slow line: what has been asked is done at once, but the reply takes its time. */
export class SlowStore implements EventStore {
  /** Of every reply, in ms. Takes effect on replies that are under way, too. */
  delayMs = 0;
  /** How many times it was asked. */
  trips = 0;
  readonly #store = new MemoryEventStore();

  async read(...asked: Parameters<EventStore['read']>) {
    return this.#late(this.#store.read(...asked));
  }

  async append(...asked: Parameters<EventStore['append']>) {
    return this.#late(this.#store.append(...asked));
  }

  async #late<T>(reply: Promise<T>): Promise<T> {
    this.trips++;
    const since = performance.now();
    while (performance.now() - since < this.delayMs) await delay(5);
    return reply;
  }
}
