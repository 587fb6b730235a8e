/**
 * The words that the tests of the rules are written in:
 *
 *     given(created(7, 'Fern')).when(remove(7)).then(deleted(7));
 *     given(created(7, 'Fern')).when(create(7, 'Moss')).then('id-taken');
 *     given(created(7, 'Fern'), deleted(7)).thenListed();
 */
import { expect } from 'chai';
import {
  type Command,
  type Plant,
  type PlantCreated,
  type PlantDeleted,
  type PlantEvent,
  type PlantId,
  PlantList,
  type Rejection,
  decide,
  parsePlantId,
} from '../../src/domain';

export function given(...history: PlantEvent[]) {
  const list = PlantList.from(history);
  return {
    when(command: Command) {
      const decision = decide(command, list);
      return {
        /** Either the one event that is due, or the rule that the command breaks. */
        then(outcome: PlantEvent | Rejection): void {
          expect(decision).to.deep.equal(
            typeof outcome === 'string' ? { rejection: outcome } : { event: outcome },
          );
        },
      };
    },
    thenListed(...plants: Plant[]): void {
      expect(list.page()).to.deep.equal({ plants, next: undefined });
    },
  };
}

export function plantId(id: number | bigint | string): PlantId {
  const parsed = parsePlantId(String(id));
  if (parsed === undefined) throw new RangeError(`${id} is no plant id`);
  return parsed;
}

export function create(id: number | PlantId, name: string, tag?: string): Command {
  return { type: 'CreatePlant', plant: { id: plantId(id), ...plant(name, tag) } };
}

export function remove(id: number | PlantId): Command {
  return { type: 'DeletePlant', id: plantId(id) };
}

export function created(id: number | PlantId, name: string, tag?: string): PlantCreated {
  return { type: 'PlantCreated', id: plantId(id), ...plant(name, tag) };
}

export function deleted(id: number | PlantId): PlantDeleted {
  return { type: 'PlantDeleted', id: plantId(id) };
}

export function plant(name: string, tag?: string): Plant {
  return tag === undefined ? { name } : { name, tag };
}

export function ferns(count: number): PlantCreated[] {
  return Array.from({ length: count }, (_, index) => created(index, `Fern ${index}`));
}
