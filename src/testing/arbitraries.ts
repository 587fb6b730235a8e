/** What the property cases draw from. */
import fc from 'fast-check';
import type { Plant, PlantEvent, PlantId } from '../domain';
import { MAX_INT64, MIN_INT64, created, deleted, plantId } from './events';

/** Any int64; the bounds and what lies beside them come often. */
export const anyPlantId: fc.Arbitrary<PlantId> = fc.bigInt({ min: MIN_INT64, max: MAX_INT64 }).map(plantId);

/** Any well-formed Unicode: control characters, combining marks and the astral planes included. */
export const anyText: fc.Arbitrary<string> = fc.string({ unit: 'binary', maxLength: 20 });

export const anyPlant: fc.Arbitrary<Plant> = fc.record(
  { name: fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }), tag: anyText },
  { requiredKeys: ['name'] },
);

/** Any event at all, whether or not some history could go on with it. */
export const anyEvent: fc.Arbitrary<PlantEvent> = fc.oneof(
  fc.tuple(anyPlantId, anyPlant).map(([id, { name, tag }]) => created(id, name, tag)),
  anyPlantId.map(deleted),
);
