/** The specification of the service as a model: what each request of a user responds with, and leaves behind. */
import type { Plant } from '../../../src/domain';

export type NewPlant = Plant & {
  /** Canonical. */
  readonly id: string;
};

/**
 * The plants that one user created, in order, so that the place after a plant is the cursor behind it. A deleted plant
 * leaves its place empty. A value never changes: each change makes a new one.
 */
export type Plants = readonly (NewPlant | undefined)[];

export const NO_PLANTS: Plants = [];

export interface Reply {
  readonly status: number;
  readonly error?: number;
  readonly text?: string;
  /** The cursor of the next page. */
  readonly next?: number;
}

export type Outcome = readonly [reply: Reply, plants: Plants];

export function create(plants: Plants, plant: NewPlant): Outcome {
  if (plants.some((other) => other?.id === plant.id)) return [{ status: 400, error: 40003 }, plants];
  return [{ status: 200, text: shown(plant) }, [...plants, plant]];
}

export function remove(plants: Plants, id: string): Outcome {
  if (!plants.some((plant) => plant?.id === id)) return [{ status: 404, error: 40401 }, plants];
  return [{ status: 204, text: '' }, plants.map((plant) => (plant?.id === id ? undefined : plant))];
}

export function list(plants: Plants, limit = Infinity, cursor = 0): Reply {
  const living = [...plants.entries()].slice(cursor).flatMap(([at, plant]) => (plant ? { at, plant } : []));
  const page = living.slice(0, limit);
  const text = `[${page.map(({ plant }) => shown(plant)).join()}]`;
  if (page.length === living.length || page.length === 0) return { status: 200, text };
  return { status: 200, text, next: page.at(-1)!.at + 1 };
}

function shown(plant: NewPlant): string {
  return JSON.stringify({ ...plant, id: undefined });
}
