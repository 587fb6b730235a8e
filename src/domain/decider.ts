import type { PlantEvent } from './events';
import type { NewPlant } from './plant';
import type { PlantId } from './plant-id';

export interface CreatePlant {
  readonly type: 'CreatePlant';
  readonly plant: NewPlant;
}

export interface DeletePlant {
  readonly type: 'DeletePlant';
  readonly id: PlantId;
}

export type Command = CreatePlant | DeletePlant;

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
      const { id, name, tag } = command.plant;
      if (plants.has(id)) return { rejection: 'id-taken' };
      const type = 'PlantCreated';
      return { event: tag === undefined ? { type, id, name } : { type, id, name, tag } };
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
