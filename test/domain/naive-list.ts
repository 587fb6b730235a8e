import { type Page, type PlantEvent, type PlantId, plantBytes } from '../../src/domain';
import { created, deleted, plantId } from '../support/given';

/** The observable content of a page. */
export type NaivePage = Pick<Page, 'plants' | 'next'>;

/** The oracle for PlantList: the same behavior, implemented by searching one array. */
export class NaiveList {
  readonly history: PlantEvent[] = [];
  #living: { readonly id: PlantId; readonly name: string; readonly position: number }[] = [];

  get ids(): readonly PlantId[] {
    return this.#living.map(({ id }) => id);
  }

  /** The living plants, in order of creation. Names are unique. */
  get names(): readonly string[] {
    return this.#living.map(({ name }) => name);
  }

  get bytes(): number {
    return this.#living.reduce((sum, { id, name }) => sum + plantBytes(id, { name }), 0);
  }

  /** Creates a plant if `id` is free; returns the event for the list under test. */
  create(id: number): PlantEvent | undefined {
    if (this.ids.includes(plantId(id))) return undefined;
    const position = this.history.length + 1;
    const event = created(id, `plant ${position}`);
    this.#living.push({ id: event.id, name: event.name, position });
    this.history.push(event);
    return event;
  }

  /** Deletes the living plant at `index`, modulo the number of plants. */
  delete(index: number): PlantEvent | undefined {
    const gone = this.#living[index % this.#living.length];
    if (gone === undefined) return undefined;
    this.#living = this.#living.filter((plant) => plant !== gone);
    const event = deleted(gone.id);
    this.history.push(event);
    return event;
  }

  page(limit: number, after: number): NaivePage {
    const later = this.#living.filter(({ position }) => position > after);
    const page = later.slice(0, limit);
    return {
      plants: page.map(({ name }) => ({ name })),
      next: page.length < later.length ? (page.at(-1)?.position ?? after) : undefined,
    };
  }
}
