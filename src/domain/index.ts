/** The public interface of the domain: pure, synchronous, without dependencies. */
export {
  type InvalidMember,
  MEMBERS,
  MEMBER_NAMES,
  type Member,
  type MemberName,
  NewPlant,
  type Plant,
  type PlantParts,
  charactersOf,
  columnsOf,
  isPlant,
  plantBytes,
  plantOf,
  ruleOf,
} from './plant';
export { PLANT_ID_RULE, type PlantId, canonicalInteger, parsePlantId } from './plant-id';
export { type PlantCreated, type PlantDeleted, type PlantEvent } from './events';
export {
  type Command,
  type CreatePlant,
  type DeletePlant,
  type PlantDecision,
  type LivingPlants,
  type Rejection,
  decide,
  decideInOrder,
  plantDecider,
  plantFootprint,
} from './decider';
export { ImpossibleHistory, type LivingPlant, Page, PlantList } from './plant-list';
export type { SegmentRange, SegmentView } from './segment';
