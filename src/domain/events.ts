// WARNING: these names and fields ARE the storage format. Recorded events are
// never rewritten, so nothing here is renamed or removed; what a change needs
// is a new event type, or an upcaster in the adapter that reads old ones.
// docs/decisions/0003-storage-format.md says how the format may evolve.
import { type Plant, isPlant } from './plant';
import type { PlantId } from './plant-id';

export interface PlantCreated extends Plant {
  readonly type: 'PlantCreated';
  readonly id: PlantId;
}

export interface PlantDeleted {
  readonly type: 'PlantDeleted';
  readonly id: PlantId;
}

export type PlantEvent = PlantCreated | PlantDeleted;

/** What was written down of an event, before it is known to be one. */
export interface EventParts {
  readonly type: unknown;
  readonly id: PlantId | undefined;
  readonly name?: unknown;
  readonly tag?: unknown;
}

export function plantCreated(id: PlantId, { name, tag }: Plant): PlantCreated {
  const type = 'PlantCreated';
  return tag === undefined ? { type, id, name } : { type, id, name, tag };
}

/** The event that has these parts; `undefined` where none has: an unknown type, or a plant that breaks the rules. */
export function eventFrom(parts: EventParts): PlantEvent | undefined {
  const { type, id } = parts;
  if (id === undefined) return undefined;
  switch (type) {
    case 'PlantCreated':
      return isPlant(parts) ? plantCreated(id, parts) : undefined;
    case 'PlantDeleted':
      return { type, id };
    default:
      return undefined;
  }
}
