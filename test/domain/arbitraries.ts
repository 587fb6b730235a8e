/** What the property tests draw from. */
import fc from 'fast-check';
import type { Command } from '../../src/domain';
import { anyPlant } from '../../src/testing/arbitraries';
import { create, remove } from '../support/given';

export { anyEvent, anyPlantId } from '../../src/testing/arbitraries';
export { MAX_INT64, MIN_INT64 } from '../../src/testing/events';

/** Long suites do more on request. */
export const RUNS = process.env['LONG'] === '1' ? 2000 : 200;

/** Of a handful of ids, so that most commands run into what earlier ones did. */
export const anyCommand: fc.Arbitrary<Command> = fc
  .tuple(fc.integer({ min: 1, max: 5 }), fc.option(anyPlant, { nil: undefined }))
  .map(([id, plant]) => (plant ? create(id, plant.name, plant.tag) : remove(id)));

export const anyCommands = fc.array(anyCommand, { maxLength: 30, size: 'max' });
