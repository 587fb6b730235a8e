/** The public face of the domain: pure, synchronous, free of any dependency. */
export { NewPlant, type Plant, type PlantParts } from './plant';
export { type PlantId, parsePlantId, plantIdFromJsonNumber } from './plant-id';
export { type EventParts, type PlantCreated, type PlantDeleted, type PlantEvent, eventFrom } from './events';
export {
  type Command,
  type CreatePlant,
  type DeletePlant,
  type Decision,
  type LivingPlants,
  type Rejection,
  bytesAddedBy,
  decide,
  decideInOrder,
} from './decider';
export { plantBytes } from './plant-size';
export { ImpossibleHistory, Page, PlantList } from './plant-list';
export type { SegmentView, Stretch } from './segment';
