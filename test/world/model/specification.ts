/** The specification of the service: what each request of a user responds with, by the oracle of the rules. */
import { type Plant, type PlantId } from '../../../src/domain';
import type { PlantsOracle } from '../../support/plants-oracle';

export interface ExpectedResponse {
  readonly status: number;
  readonly error?: number;
  readonly text?: string;
  /** The cursor of the next page. */
  readonly next?: number | undefined;
}

export type Outcome = readonly [expected: ExpectedResponse, plants: PlantsOracle];

export function create(plants: PlantsOracle, id: string, plant: Plant): Outcome {
  const after = plants.after({ type: 'PlantCreated', id: id as PlantId, plant });
  return after
    ? [{ status: 200, text: JSON.stringify(plant) }, after]
    : [{ status: 400, error: 40003 }, plants];
}

export function remove(plants: PlantsOracle, id: string): Outcome {
  const after = plants.after({ type: 'PlantDeleted', id: id as PlantId });
  return after ? [{ status: 204, text: '' }, after] : [{ status: 404, error: 40401 }, plants];
}

export function list(plants: PlantsOracle, limit = Infinity, cursor = 0): ExpectedResponse {
  const { plants: page, next } = plants.page(limit, cursor);
  return { status: 200, text: JSON.stringify(page), next: page.length === 0 ? undefined : next };
}
