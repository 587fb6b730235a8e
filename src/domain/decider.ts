import { type PlantEvent, plantCreated } from './events';
import type { NewPlant } from './plant';
import type { PlantId } from './plant-id';
import { plantBytes } from './plant-size';

export interface CreatePlant {
  readonly type: 'CreatePlant';
  readonly plant: NewPlant;
}

export interface DeletePlant {
  readonly type: 'DeletePlant';
  readonly id: PlantId;
}

export type Command = CreatePlant | DeletePlant;

/** How much memory `command` may add to the list, in bytes. */
export function bytesAddedBy(command: Command): number {
  return command.type === 'CreatePlant' ? plantBytes(command.plant.id, command.plant) : 0;
}

/** Why a command changes nothing. */
export type Rejection = 'id-taken' | 'no-such-plant';

/** Either the one event that a command brings about, or the rule that it breaks. */
export type Decision =
  | { readonly event: PlantEvent; readonly rejection?: undefined }
  | { readonly event?: undefined; readonly rejection: Rejection };

/** All that a decision needs to know: which ids are taken by living plants. */
export interface LivingPlants {
  has(id: PlantId): boolean;
}

/** The rules of the domain: an id is created only while it is free, and deleted only while it lives. */
export function decide(command: Command, plants: LivingPlants): Decision {
  switch (command.type) {
    case 'CreatePlant': {
      const { plant } = command;
      if (plants.has(plant.id)) return { rejection: 'id-taken' };
      return { event: plantCreated(plant.id, plant) };
    }
    case 'DeletePlant':
      if (!plants.has(command.id)) return { rejection: 'no-such-plant' };
      return { event: { type: 'PlantDeleted', id: command.id } };
  }
}

/**
 * Decides commands one after the other, each against `plants` plus all that
 * the earlier ones brought about, and changes nothing: whoever asked evolves
 * the list once the events are recorded.
 */
export function decideInOrder(commands: Iterable<Command>, plants: LivingPlants): Decision[] {
  const changed = new Map<PlantId, boolean>();
  const ahead: LivingPlants = { has: (id) => changed.get(id) ?? plants.has(id) };
  const decisions: Decision[] = [];
  for (const command of commands) {
    const decision = decide(command, ahead);
    if (decision.event) changed.set(decision.event.id, decision.event.type === 'PlantCreated');
    decisions.push(decision);
  }
  return decisions;
}
