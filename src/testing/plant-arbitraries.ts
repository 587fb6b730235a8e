/** The plant events that the contract appends by default. */
import fc from 'fast-check';
import {
  MEMBERS,
  MEMBER_NAMES,
  type MemberName,
  type Plant,
  type PlantEvent,
  type PlantId,
  plantCreated,
} from '../domain';
import type { EventSamples } from './case';
import { ODD_TEXTS } from './odd-texts';
import { MAX_INT64, MIN_INT64, created, deleted, plantId } from './plant-events';

/** Any int64; the bounds and what lies beside them come often. */
export const anyPlantId: fc.Arbitrary<PlantId> = fc.bigInt({ min: MIN_INT64, max: MAX_INT64 }).map(plantId);

/** Any well-formed Unicode: control characters, combining marks and the astral planes included. */
export const anyText: fc.Arbitrary<string> = fc.string({ unit: 'binary', maxLength: 20 });

export const anyPlant: fc.Arbitrary<Plant> = fc.record(
  allMembers((name) => fc.string({ unit: 'binary', minLength: MEMBERS[name].minLength, maxLength: 20 })),
  { requiredKeys: MEMBER_NAMES.filter((name) => !MEMBERS[name].optional) },
);

function allMembers<Value>(valueOf: (name: MemberName) => Value): Readonly<Record<MemberName, Value>> {
  return Object.fromEntries(MEMBER_NAMES.map((name) => [name, valueOf(name)])) as Record<MemberName, Value>;
}

/** Any event at all, whether or not some history could go on with it. */
export const anyEvent: fc.Arbitrary<PlantEvent> = fc.oneof(...Object.values(anyEventOfType()));

/** By type, so that a new type of event cannot be left out. */
function anyEventOfType(): {
  readonly [Type in PlantEvent['type']]: fc.Arbitrary<Extract<PlantEvent, { type: Type }>>;
} {
  return {
    PlantCreated: fc.tuple(anyPlantId, anyPlant).map(([id, plant]) => plantCreated(id, plant)),
    PlantDeleted: anyPlantId.map(deleted),
  };
}

const EXTREME_IDS = [MIN_INT64, -(2n ** 53n) - 1n, -1n, 0n, 2n ** 53n, 2n ** 53n + 1n, MAX_INT64].map(
  plantId,
);

export const plantSamples: EventSamples<PlantEvent> = {
  any: anyEvent,
  odd: [
    ...ODD_TEXTS.map((text, index) =>
      plantCreated(
        plantId(index),
        allMembers(() => text),
      ),
    ),
    created(100, 'no tag'),
    created(101, 'empty tag', ''),
    ...EXTREME_IDS.flatMap((id) => [created(id, 'Fern'), deleted(id)]),
  ],
};
