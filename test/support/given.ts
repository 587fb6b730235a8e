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
  NewPlant,
  type Plant,
  type PlantCreated,
  type PlantEvent,
  type PlantId,
  PlantList,
  type Rejection,
  decide,
} from '../../src/domain';
import { plantId } from '../../src/testing/events';

export { created, deleted, ferns, plantId } from '../../src/testing/events';

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
      expect([list.page().plants, list.page().next]).to.deep.equal([plants, undefined]);
    },
  };
}

export function create(id: number | PlantId, name: string, tag?: string): Command {
  return { type: 'CreatePlant', plant: newPlant(id, name, tag) };
}

export function remove(id: number | PlantId): Command {
  return { type: 'DeletePlant', id: plantId(id) };
}

export function newPlant(id: number | string, name: string, tag?: string): NewPlant {
  const made = NewPlant.from({ id: String(id), name, tag });
  if (made === undefined) throw new RangeError('no such plant can be created');
  return made;
}

/** What has to be created for `event` to be recorded. */
export function planting({ id, name, tag }: PlantCreated): NewPlant {
  return newPlant(id, name, tag);
}

export function plant(name: string, tag?: string): Plant {
  return tag === undefined ? { name } : { name, tag };
}
