/** Arbitraries of the property tests. */
import fc from 'fast-check';
import {
  type Command,
  MEMBERS,
  MEMBER_NAMES,
  type MemberName,
  type Plant,
  type PlantEvent,
  type PlantId,
} from '../../src/domain';
import { deleted, newPlantOf, plantId, remove } from '../support/given';
import { MAX_INT64, MIN_INT64 } from '../support/plant-events';

export { MAX_INT64, MIN_INT64 };

/** Number of runs; more with LONG, and fewer while Stryker repeats them for each mutant. */
export const RUNS = Number(process.env['RUNS'] ?? (process.env['LONG'] === '1' ? 2000 : 200));

/** Any int64; the bounds and what lies beside them come often. */
export const anyPlantId: fc.Arbitrary<PlantId> = fc.bigInt({ min: MIN_INT64, max: MAX_INT64 }).map(plantId);

/** Any well-formed Unicode: control characters, combining marks and the astral planes included. */
export const anyText: fc.Arbitrary<string> = fc.string({ unit: 'binary', maxLength: 20 });

export const anyPlant: fc.Arbitrary<Plant> = fc.record(
  allMembers((name) => fc.string({ unit: 'binary', minLength: MEMBERS[name].minLength, maxLength: 20 })),
  { requiredKeys: MEMBER_NAMES.filter((name) => !MEMBERS[name].optional) },
);

/** A value for each member of a plant, so that a new member cannot be left out. */
export function allMembers<Value>(valueOf: (name: MemberName) => Value): Readonly<Record<MemberName, Value>> {
  return Object.fromEntries(MEMBER_NAMES.map((name) => [name, valueOf(name)])) as Record<MemberName, Value>;
}

/** Any event at all, whether or not some history could go on with it. */
export const anyEvent: fc.Arbitrary<PlantEvent> = fc.oneof(...Object.values(anyEventOfType()));

/** By type, so that a new type of event cannot be left out. */
function anyEventOfType(): {
  readonly [Type in PlantEvent['type']]: fc.Arbitrary<Extract<PlantEvent, { type: Type }>>;
} {
  return {
    PlantCreated: fc
      .tuple(anyPlantId, anyPlant)
      .map(([id, plant]) => ({ type: 'PlantCreated' as const, id, plant })),
    PlantDeleted: anyPlantId.map(deleted),
  };
}

/** Of few ids, so that most commands depend on earlier ones. */
export const anyCommand: fc.Arbitrary<Command> = fc.oneof(...Object.values(anyCommandOfType()));

/** By command type, so that the compiler requires an entry for a new type. */
function anyCommandOfType(): Readonly<Record<Command['type'], fc.Arbitrary<Command>>> {
  const anyId = fc.integer({ min: 1, max: 5 });
  return {
    CreatePlant: fc
      .tuple(anyId, anyPlant)
      .map(([id, plant]) => ({ type: 'CreatePlant' as const, plant: newPlantOf(id, plant) })),
    DeletePlant: anyId.map(remove),
  };
}

export const anyCommands = fc.array(anyCommand, { maxLength: 30, size: 'max' });
