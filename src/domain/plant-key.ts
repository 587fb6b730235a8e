import type { PlantId } from './plant-id';
import { SHORT_ID } from './plant-size';

/** The key of a plant in a map: the number that a short id spells, else the id. V8 looks a small number up faster. */
export type PlantKey = PlantId | number;

/** Injective, because ids are canonical. */
export function keyOf(id: PlantId): PlantKey {
  return id.length <= SHORT_ID ? Number(id) : id;
}
