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
