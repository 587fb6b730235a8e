// WARNING: these names and fields ARE the storage format. Recorded events are
// never rewritten, so nothing here is renamed or removed; what a change needs
// is a new event type, or an upcaster in the adapter that reads old ones.
// docs/decisions/0003-storage-format.md says how the format may evolve.
import type { NewPlant } from './plant';
import type { PlantId } from './plant-id';

export interface PlantCreated extends NewPlant {
  readonly type: 'PlantCreated';
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

/** The event that has these parts; `undefined` where none has: no such type, or a plant as nobody could have created it. */
export function eventFrom({ type, id, name, tag }: EventParts): PlantEvent | undefined {
  if (id === undefined) return undefined;
  switch (type) {
    case 'PlantCreated':
      if (!isText(name) || name === '') return undefined;
      if (tag === undefined) return { type, id, name };
      return isText(tag) ? { type, id, name, tag } : undefined;
    case 'PlantDeleted':
      return { type, id };
    default:
      return undefined;
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed();
}
