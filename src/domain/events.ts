// WARNING: recorded events are never rewritten, so nothing here may be renamed or removed. A change of meaning needs a
// new event type, and an upcaster for the old one in the codec of plant events.
// docs/decisions/0003-storage-format.md explains how the format may evolve.
import { type Plant, assignMembers } from './plant';
import type { PlantId } from './plant-id';

export type PlantCreated = Plant & {
  readonly type: 'PlantCreated';
  readonly id: PlantId;
};

export interface PlantDeleted {
  readonly type: 'PlantDeleted';
  readonly id: PlantId;
}

export type PlantEvent = PlantCreated | PlantDeleted;

export function plantCreated(id: PlantId, plant: Plant): PlantCreated {
  return assignMembers({ type: 'PlantCreated' as const, id }, plant);
}
