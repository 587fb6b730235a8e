/** Arbitraries of the property tests. */
import fc from 'fast-check';
import type { Command } from '../../src/domain';
import { anyPlant } from '../../src/testing/plant-arbitraries';
import { create, remove } from '../support/given';

export { anyEvent, anyPlantId } from '../../src/testing/plant-arbitraries';
export { MAX_INT64, MIN_INT64 } from '../../src/testing/plant-events';

/** Number of runs; more with LONG, and fewer while Stryker repeats them for each mutant. */
export const RUNS = Number(process.env['RUNS'] ?? (process.env['LONG'] === '1' ? 2000 : 200));

/** Of few ids, so that most commands depend on earlier ones. */
export const anyCommand: fc.Arbitrary<Command> = fc.oneof(...Object.values(anyCommandOfType()));

/** By command type, so that the compiler requires an entry for a new type. */
function anyCommandOfType(): Readonly<Record<Command['type'], fc.Arbitrary<Command>>> {
  const anyId = fc.integer({ min: 1, max: 5 });
  return {
    CreatePlant: fc.tuple(anyId, anyPlant).map(([id, { name, tag }]) => create(id, name, tag)),
    DeletePlant: anyId.map(remove),
  };
}

export const anyCommands = fc.array(anyCommand, { maxLength: 30, size: 'max' });
