import { type Page, type PlantEvent, type PlantId, plantBytes } from '../../src/domain';
import { created, deleted } from '../support/given';
import { PlantsOracle } from '../support/plants-oracle';

/** The observable content of a page. */
export type NaivePage = Pick<Page, 'plants' | 'next'>;

/** The oracle for PlantList, with the events that lead to it. */
export class NaiveList {
  readonly history: PlantEvent[] = [];
  #plants = PlantsOracle.NONE;

  get ids(): readonly PlantId[] {
    return this.#plants.living.map(({ id }) => id);
  }

  /** The living plants, in order of creation. Names are unique. */
  get names(): readonly string[] {
    return this.#plants.living.map(({ plant }) => plant.name);
  }

  get bytes(): number {
    return this.#plants.living.reduce((sum, { id, plant }) => sum + plantBytes(id, plant), 0);
  }

  /** Creates a plant if `id` is free; returns the event for the list under test. */
  create(id: number): PlantEvent | undefined {
    const event = created(id, `plant ${this.history.length + 1}`);
    return this.#note(event, this.#plants.create(event.id, { name: event.name }));
  }

  /** Deletes the living plant at `index`, modulo the number of plants. */
  delete(index: number): PlantEvent | undefined {
    const gone = this.ids[index % this.ids.length];
    return gone && this.#note(deleted(gone), this.#plants.delete(gone));
  }

  page(limit: number, after: number): NaivePage {
    return this.#plants.page(limit, after);
  }

  #note(event: PlantEvent, plants: PlantsOracle | undefined): PlantEvent | undefined {
    if (plants === undefined) return undefined;
    this.#plants = plants;
    this.history.push(event);
    return event;
  }
}
