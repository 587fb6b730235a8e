import type { Plants } from './koa-app';
import type { NewPlant, Plant } from './shared';

/** Plants in a Map, as in a tutorial. */
export class PlantMap implements Plants {
  readonly #plants = new Map<number, Plant>();

  list(): Plant[] {
    return [...this.#plants.values()];
  }

  create({ id, name, tag }: NewPlant): boolean {
    if (this.#plants.has(id)) return false;
    this.#plants.set(id, tag === undefined ? { name } : { name, tag });
    return true;
  }

  delete(id: number): boolean {
    return this.#plants.delete(id);
  }
}
