/** The public interface of the domain: pure, synchronous, without dependencies. */
export { NewPlant, type Plant, type PlantParts, isPlant, plantBytes } from './plant';
export { type PlantId, canonicalInteger, parsePlantId } from './plant-id';
export { type PlantCreated, type PlantDeleted, type PlantEvent, plantCreated } from './events';
export {
  type Command,
  type CreatePlant,
  type DeletePlant,
  type Decision,
  type LivingPlants,
  type Rejection,
  decide,
  decideInOrder,
  plantDecider,
  plantFootprint,
} from './decider';
export { ImpossibleHistory, type LivingPlant, Page, PlantList } from './plant-list';
export type { SegmentRange, SegmentView } from './segment';
