// WARNING: recorded events are never rewritten, so nothing here may be renamed or removed. A change of meaning needs a
// new event type, and an upcaster for the old one in the codec of plant events.
// docs/decisions/0003-storage-format.md explains how the format may evolve.
import type { Plant } from './plant';
import type { PlantId } from './plant-id';

export interface PlantCreated {
  readonly type: 'PlantCreated';
  readonly id: PlantId;
  /** A list keeps this object. */
  readonly plant: Plant;
}

export interface PlantDeleted {
  readonly type: 'PlantDeleted';
  readonly id: PlantId;
}

export type PlantEvent = PlantCreated | PlantDeleted;
