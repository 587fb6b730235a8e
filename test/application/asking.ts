import type { Decision, NewPlant, PlantCreated, PlantDeleted, PlantId } from '../../src/domain';
import type { Listing, View } from '../../src/application';
import { newPlant } from '../support/given';

// The words in which the tests of the application ask and are answered.

export type Wish =
  | { readonly type: 'create'; readonly id: number; readonly name: string }
  | { readonly type: 'delete'; readonly id: number }
  | { readonly type: 'list' };

/** `created`, `deleted`, why not, the names listed, or the name of what was thrown. */
export type Outcome = string | readonly string[];

/** The whole list, as `PlantStore.list` shows it. */
export const WHOLE: View<Listing> = (list, head) => {
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

/** A request on its way, and what came of it. */
export class Asked {
  outcome: Outcome = 'pending';
  error: unknown;
  head: Listing['head'] | undefined;

  constructor(answer: Promise<Decision | Listing>, settled: () => void = () => {}) {
    void answer
      .then(
        (given) => {
          this.outcome = inWords(given);
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

function inWords(given: Decision | Listing): Outcome {
  if ('plants' in given) return given.plants.map(({ name }) => name);
  return given.rejection ?? (given.event.type === 'PlantCreated' ? 'created' : 'deleted');
}
