import { type Page, type PlantEvent, type PlantId, plantBytes } from '../../src/domain';
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

  /** The id of the living plant at `index`, modulo the number of plants. */
  idAt(index: number): PlantId | undefined {
    return this.ids[index % this.ids.length];
  }

  /** Whether the rules can lead to `event`. */
  allows(event: PlantEvent): boolean {
    return this.#plants.after(event) !== undefined;
  }

  /** Records `event`, unless it is impossible. Returns whether it did. */
  evolve(event: PlantEvent): boolean {
    const plants = this.#plants.after(event);
    if (plants === undefined) return false;
    this.#plants = plants;
    this.history.push(event);
    return true;
  }

  page(limit: number, after: number): NaivePage {
    return this.#plants.page(limit, after);
  }
}
