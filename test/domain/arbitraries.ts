/** What the property tests draw from. */
import fc from 'fast-check';
import type { Command, Plant, PlantEvent } from '../../src/domain';
import { create, created, deleted, plantId, remove } from '../support/given';

export const MIN_INT64 = -(2n ** 63n);
export const MAX_INT64 = 2n ** 63n - 1n;

/** Long suites do more on request. */
export const RUNS = process.env['LONG'] === '1' ? 2000 : 200;

/** Any int64; the bounds and what lies beside them come often. */
export const anyPlantId = fc.bigInt({ min: MIN_INT64, max: MAX_INT64 }).map(plantId);

/** Any well-formed Unicode: control characters, combining marks and the astral planes included. */
export const anyText = fc.string({ unit: 'binary', maxLength: 20 });

export const anyPlant: fc.Arbitrary<Plant> = fc.record(
  { name: fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }), tag: anyText },
  { requiredKeys: ['name'] },
);

/** Any event at all, whether or not some history could go on with it. */
export const anyEvent: fc.Arbitrary<PlantEvent> = fc.oneof(
  fc.tuple(anyPlantId, anyPlant).map(([id, { name, tag }]) => created(id, name, tag)),
  anyPlantId.map(deleted),
);

/** Of a handful of ids, so that most commands run into what earlier ones did. */
export const anyCommand: fc.Arbitrary<Command> = fc
  .tuple(fc.integer({ min: 1, max: 5 }), fc.option(anyPlant, { nil: undefined }))
  .map(([id, plant]) => (plant ? create(id, plant.name, plant.tag) : remove(id)));

export const anyCommands = fc.array(anyCommand, { maxLength: 30, size: 'max' });
