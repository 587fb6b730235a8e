/**
 * The functions with which the tests of the rules are written, on the published given/when/then:
 *
 *     given(created(7, 'Fern')).when(remove(7)).then(deleted(7));
 *     given(created(7, 'Fern')).when(create(7, 'Moss')).thenRejected('id-taken');
 *     given(created(7, 'Fern'), deleted(7)).thenState(listed());
 */
import { expect } from 'chai';
import { parseUser, plantsOf as plantsOfUser } from '../../src/application';
import type { StreamName } from '../../src/event-sourcing';
import {
  type Command,
  NewPlant,
  type Plant,
  type PlantEvent,
  type PlantId,
  type PlantList,
  type Rejection,
  plantDecider,
} from '../../src/domain';
import { examplesOf } from '../../src/testing';
import { plant, plantId } from './plant-events';

export { created, decoded, deleted, encoded, ferns, plant, plantEventOf, plantId } from './plant-events';

export const { given } = examplesOf<Command, PlantEvent, Rejection, PlantList>(plantDecider);

/** For `thenState`: checks that the list has exactly these plants. */
export function listed(...plants: Plant[]): (list: PlantList) => void {
  return (list) => expect([list.page().plants, list.page().next]).to.deep.equal([plants, undefined]);
}

export function create(id: number | PlantId, name: string, tag?: string): Command {
  return { type: 'CreatePlant', plant: newPlant(id, name, tag) };
}

export function remove(id: number | PlantId): Command {
  return { type: 'DeletePlant', id: plantId(id) };
}

export function newPlant(id: number | string, name: string, tag?: string): NewPlant {
  return newPlantOf(id, plant(name, tag));
}

/** A NewPlant with all members of `plant`. */
export function newPlantOf(id: number | string, plant: Plant): NewPlant {
  const { plant: made, invalid } = NewPlant.from({ ...plant, id: String(id) });
  if (invalid) throw new RangeError(`${invalid.member} must be ${invalid.rule}`);
  return made;
}

/** The stream of a user's plants. */
export function plantsOf(user: string): StreamName {
  return plantsOfUser(parseUser(user)!);
}
