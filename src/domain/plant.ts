import type { PlantId } from './plant-id';

/** What a client gets back: never the id. */
export interface Plant {
  /** At least one character, well-formed Unicode; kept character for character. */
  readonly name: string;
  /** Any well-formed string, also the empty one. Absent is not the same as empty. */
  readonly tag?: string;
}

/** What a client hands in. The id is unique among one user's living plants. */
export interface NewPlant extends Plant {
  readonly id: PlantId;
}
