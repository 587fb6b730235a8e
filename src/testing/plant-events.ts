/** Plant events to test with. */
import { type PlantCreated, type PlantDeleted, type PlantId, parsePlantId } from '../domain';

export const MIN_INT64 = -(2n ** 63n);
export const MAX_INT64 = 2n ** 63n - 1n;

export function plantId(id: number | bigint | string): PlantId {
  const parsed = parsePlantId(String(id));
  if (parsed === undefined) throw new RangeError(`${id} is no plant id`);
  return parsed;
}

export function created(id: number | PlantId, name: string, tag?: string): PlantCreated {
  const event = { type: 'PlantCreated', id: plantId(id), name } as const;
  return tag === undefined ? event : { ...event, tag };
}

export function deleted(id: number | PlantId): PlantDeleted {
  return { type: 'PlantDeleted', id: plantId(id) };
}

export function ferns(count: number): PlantCreated[] {
  return Array.from({ length: count }, (_, index) => created(index, `Fern ${index}`));
}
