/** The public face of the domain: pure, synchronous, free of any dependency. */
export type { Plant, NewPlant } from './plant';
export { type PlantId, parsePlantId, plantIdFromJsonNumber } from './plant-id';
export { type EventParts, type PlantCreated, type PlantDeleted, type PlantEvent, eventFrom } from './events';
export {
  type Command,
  type CreatePlant,
  type DeletePlant,
  type Decision,
  type LivingPlants,
  type Rejection,
  decide,
  decideInOrder,
} from './decider';
export { ImpossibleHistory, Page, PlantList } from './plant-list';
export type { SegmentView, Stretch } from './segment';
