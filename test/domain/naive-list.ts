import type { Page, PlantEvent, PlantId } from '../../src/domain';
import { created, deleted, plantId } from '../support/given';

/** What a page shows to whoever asks. */
export type NaivePage = Pick<Page, 'plants' | 'next'>;

/** The oracle for PlantList: the same promises kept the simple, slow way, by searching one array. */
export class NaiveList {
  readonly history: PlantEvent[] = [];
  #living: { readonly id: PlantId; readonly name: string; readonly position: number }[] = [];

  get ids(): readonly PlantId[] {
    return this.#living.map(({ id }) => id);
  }

  /** Who is alive, in order of creation. No two lives ever had the same name. */
  get names(): readonly string[] {
    return this.#living.map(({ name }) => name);
  }

  /** Creates a plant under `id` if that is free; the event is what a list under test must take in. */
  create(id: number): PlantEvent | undefined {
    if (this.ids.includes(plantId(id))) return undefined;
    const position = this.history.length + 1;
    const event = created(id, `plant ${position}`);
    this.#living.push({ id: event.id, name: event.name, position });
    this.history.push(event);
    return event;
  }

  /** Deletes the living plant number `index`, counted round and round. */
  delete(index: number): PlantEvent | undefined {
    const gone = this.#living[index % this.#living.length];
    if (gone === undefined) return undefined;
    this.#living = this.#living.filter((plant) => plant !== gone);
    const event = deleted(gone.id);
    this.history.push(event);
    return event;
  }

  page(limit: number, after: number): NaivePage {
    const behind = this.#living.filter(({ position }) => position > after);
    const met = behind.slice(0, limit);
    return {
      plants: met.map(({ name }) => ({ name })),
      next: met.length < behind.length ? (met.at(-1)?.position ?? after) : undefined,
    };
  }
}
