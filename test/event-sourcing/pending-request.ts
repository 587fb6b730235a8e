import type { Decision, NewPlant, PlantCreated, PlantDeleted, PlantId, PlantList } from '../../src/domain';
import type { Listing } from '../../src/application';
import type { View } from '../../src/event-sourcing';
import { newPlant } from '../support/given';

/** `created`, `deleted`, a rejection, the listed names, or the name of an error. */
export type Outcome = string | readonly string[];

/** The complete list, as `PlantStore.list` returns it. */
export const FULL_LISTING: View<PlantList, Listing> = (list, head) => {
  const { plants, next } = list.page();
  return { plants, next, head };
};

export function plant(id: number, name: string): NewPlant {
  return newPlant(id, name);
}

export function plantId(id: number): PlantId {
  return String(id) as PlantId;
}

export function created(id: number, name: string): PlantCreated {
  return { type: 'PlantCreated', id: plantId(id), name };
}

export function deleted(id: number): PlantDeleted {
  return { type: 'PlantDeleted', id: plantId(id) };
}

/** A request in flight, and its outcome. */
export class PendingRequest {
  outcome: Outcome = 'pending';
  error: unknown;
  head: Listing['head'] | undefined;

  constructor(answer: Promise<Decision | Listing>, settled: () => void = () => {}) {
    void answer
      .then(
        (given) => {
          this.outcome = describeResult(given);
          if ('head' in given) this.head = given.head;
        },
        (error: unknown) => {
          this.error = error;
          this.outcome = error instanceof Error ? error.name : String(error);
        },
      )
      .then(settled);
  }
}

function describeResult(given: Decision | Listing): Outcome {
  if ('plants' in given) return given.plants.map(({ name }) => name);
  return given.rejection ?? given.events[0]!.type.replace('Plant', '').toLowerCase();
}
