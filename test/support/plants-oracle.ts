import { type Plant, type PlantEvent, type PlantId, plantOf } from '../../src/domain';

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

  /** `undefined` if the rules cannot lead to this event. */
  after(event: PlantEvent): PlantsOracle | undefined {
    const { id } = event;
    const version = this.version + 1;
    const others = this.living.filter((each) => each.id !== id);
    switch (event.type) {
      case 'PlantCreated':
        if (this.has(id)) return undefined;
        return new PlantsOracle(version, [...others, { id, plant: plantOf(event.plant), position: version }]);
      case 'PlantDeleted':
        return this.has(id) ? new PlantsOracle(version, others) : undefined;
    }
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
