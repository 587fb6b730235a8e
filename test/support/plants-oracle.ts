import type { Plant, PlantId } from '../../src/domain';

interface Living {
  readonly id: PlantId;
  readonly plant: Plant;
  /** The version at which it was created. */
  readonly position: number;
}

/**
 * The oracle of the rules: the living plants of one user, in one array that is searched. The tests of decisions, of lists
 * and of the HTTP interface compare with it. A value never changes: each change makes a new one.
 */
export class PlantsOracle {
  static readonly NONE = new PlantsOracle(0, []);

  private constructor(
    readonly version: number,
    readonly living: readonly Living[],
  ) {}

  has(id: PlantId): boolean {
    return this.living.some((each) => each.id === id);
  }

  /** `undefined` if the id is taken. */
  create(id: PlantId, plant: Plant): PlantsOracle | undefined {
    const version = this.version + 1;
    return this.has(id)
      ? undefined
      : new PlantsOracle(version, [...this.living, { id, plant, position: version }]);
  }

  /** `undefined` if no living plant has the id. */
  delete(id: PlantId): PlantsOracle | undefined {
    return this.has(id)
      ? new PlantsOracle(
          this.version + 1,
          this.living.filter((each) => each.id !== id),
        )
      : undefined;
  }

  /** `next` is the position after the page, if plants follow it. */
  page(limit: number, after: number): { plants: Plant[]; next: number | undefined } {
    const later = this.living.filter(({ position }) => position > after);
    const page = later.slice(0, limit);
    return {
      plants: page.map(({ plant }) => plant),
      next: page.length < later.length ? (page.at(-1)?.position ?? after) : undefined,
    };
  }
}
