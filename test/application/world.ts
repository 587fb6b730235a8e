import { MemoryEventStore } from '../../src/adapters/memory/event-store';
import { type CollectionObserver, type CollectionOptions, PlantCollection } from '../../src/application';
import type { PlantEvent } from '../../src/domain';
import { ManualClock } from '../support/manual-clock';
import { ScriptedStore } from '../support/scripted-store';
import { Asked, WHOLE, plant, plantId } from './asking';

export const TIMEOUT_MS = 1000;

/** One collection, a store that does as the test says, and a clock that stands still. */
export class World {
  readonly clock = new ManualClock();
  readonly store: ScriptedStore;
  readonly plants: PlantCollection;
  /** What the observer was told, in order. */
  readonly told: string[] = [];
  #commits = 0;

  constructor({ pageSize = 1000, ...options }: { pageSize?: number } & Partial<CollectionOptions> = {}) {
    this.store = new ScriptedStore(() => new MemoryEventStore(pageSize));
    this.plants = new PlantCollection('ada', {
      store: this.store,
      clock: this.clock,
      mintCommit: () => `commit-${++this.#commits}`,
      timeoutMs: TIMEOUT_MS,
      maxWaiting: 100,
      observer: this.#observer(),
      ...options,
    });
  }

  /** A world whose collection has taken in `events`, which others recorded. */
  static async knowing(...events: PlantEvent[]): Promise<World> {
    const world = new World();
    await world.store.record('ada', ...events);
    await world.takeIn();
    world.told.length = 0;
    return world;
  }

  create(id: number, name: string): Asked {
    return new Asked(this.plants.execute({ type: 'CreatePlant', plant: plant(id, name) }));
  }

  delete(id: number): Asked {
    return new Asked(this.plants.execute({ type: 'DeletePlant', id: plantId(id) }));
  }

  list(): Asked {
    return new Asked(this.plants.query(WHOLE));
  }

  /** Lists while the store behaves. */
  async takeIn(): Promise<Asked> {
    this.store.held = false;
    const listed = this.list();
    await this.clock.pass(0);
    this.store.held = true;
    return listed;
  }

  /** Somebody else's doing, unknown to the collection. */
  othersRecord(...events: PlantEvent[]): Promise<void> {
    return this.store.record('ada', ...events);
  }

  /** What is recorded, in words: `+Fern` for a creation, `-1` for a deletion. */
  async recorded(): Promise<string[]> {
    return (await this.store.history('ada')).map(({ event }) =>
      event.type === 'PlantCreated' ? `+${event.name}` : `-${event.id}`,
    );
  }

  #observer(): CollectionObserver {
    const tell = (what: string) => void this.told.push(what);
    return {
      round: (requests, trips) => tell(`round: ${requests} requests, ${trips} trips`),
      appended: (events) => tell(`appended ${events}`),
      conflict: () => tell('conflict'),
      historyLost: (stream, known) => tell(`${stream} lost version ${known.version}`),
      fault: (stream, error) => tell(`${stream}: ${(error as Error).name}`),
    };
  }
}
