import type { PlantCreated, PlantDeleted, PlantEvent } from './events';
import { type NewPlant, plantBytes } from './plant';
import type { PlantId } from './plant-id';
import { PlantList } from './plant-list';

export interface CreatePlant {
  readonly type: 'CreatePlant';
  readonly plant: NewPlant;
}

export interface DeletePlant {
  readonly type: 'DeletePlant';
  readonly id: PlantId;
}

export type Command = CreatePlant | DeletePlant;

/** By command type: the possible event, and the possible rejection. */
interface Outcomes {
  CreatePlant: { event: PlantCreated; rejection: 'id-taken' };
  DeletePlant: { event: PlantDeleted; rejection: 'no-such-plant' };
}

/** Why a command is rejected. A rejected command changes nothing. */
export type Rejection<Type extends Command['type'] = Command['type']> = Outcomes[Type]['rejection'];

/** The result of a command: the events to record (none if it changes nothing), or why it is rejected. */
export type PlantDecision<Type extends Command['type'] = Command['type']> =
  | { readonly events: readonly Outcomes[Type]['event'][]; readonly rejection?: undefined }
  | { readonly events?: undefined; readonly rejection: Rejection<Type> };

/** The state that a decision needs: which ids living plants have. */
export interface LivingPlants {
  has(id: PlantId): boolean;
}

/** The rules of the domain: a plant is created only if its id is free, and deleted only if it exists. */
export function decide<C extends Command>(command: C, plants: LivingPlants): PlantDecision<C['type']>;
export function decide(command: Command, plants: LivingPlants): PlantDecision {
  switch (command.type) {
    case 'CreatePlant': {
      const { plant } = command;
      if (plants.has(plant.id)) return { rejection: 'id-taken' };
      return { events: [{ type: 'PlantCreated', id: plant.id, plant: plant.members }] };
    }
    case 'DeletePlant':
      if (!plants.has(command.id)) return { rejection: 'no-such-plant' };
      return { events: [{ type: 'PlantDeleted', id: command.id }] };
  }
}

/** Whether the plant is alive after an event. */
const LIVES_AFTER: Readonly<Record<PlantEvent['type'], boolean>> = {
  PlantCreated: true,
  PlantDeleted: false,
};

/** Decides commands in order, each against `plants` and the events of those before it. Changes nothing. */
export function decideInOrder(commands: readonly Command[], plants: LivingPlants): PlantDecision[] {
  const changed = new Map<PlantId, boolean>();
  const ahead: LivingPlants = { has: (id) => changed.get(id) ?? plants.has(id) };
  return commands.map((command) => {
    const decision = decide(command, ahead);
    for (const { id, type } of decision.events ?? []) changed.set(id, LIVES_AFTER[type]);
    return decision;
  });
}

/** The rules as a decider. `evolve` changes the list in place, so `decideInOrder` works without it. */
export const plantDecider = {
  initialState: () => new PlantList(),
  decide,
  decideInOrder,
  evolve(list: PlantList, event: PlantEvent): PlantList {
    list.evolve(event);
    return list;
  },
};

/** Estimated memory of lists and commands. */
export const plantFootprint = {
  items: (list: PlantList) => list.size,
  /** Bytes. */
  bytes: (list: PlantList) => list.bytes,
  /** Bytes that the command may add to the list. */
  bytesAddedBy(command: Command): number {
    switch (command.type) {
      case 'CreatePlant':
        return plantBytes(command.plant.id, command.plant.members);
      case 'DeletePlant':
        return 0;
    }
  },
};
