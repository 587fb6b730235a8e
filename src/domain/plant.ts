import { type PlantId, parsePlantId } from './plant-id';

/** What a client gets back: never the id. */
export interface Plant {
  /** At least one character, well-formed Unicode; kept character for character. */
  readonly name: string;
  /** Any well-formed string, also the empty one. Absent is not the same as empty. */
  readonly tag?: string;
}

/** The members of a plant to be created, not validated yet. */
export interface PlantParts {
  readonly id: unknown;
  readonly name: unknown;
  readonly tag?: unknown;
}

/**
 * A valid plant to be created. {@link NewPlant.from} is the only way to make one, so every instance can be
 * recorded and read back. The id is unique among one user's living plants.
 */
export class NewPlant implements Plant {
  /** Makes the type nominal: an object with the same members is not a NewPlant. */
  readonly #valid = true;
  readonly id: PlantId;
  readonly name: string;
  declare readonly tag?: string;

  private constructor(id: PlantId, { name, tag }: Plant) {
    this.id = id;
    this.name = name;
    if (tag !== undefined) this.tag = tag;
    Object.freeze(this);
  }

  /** The plant with these members; `undefined` where the id is not canonical, or {@link isPlant} does not hold. */
  static from(parts: PlantParts): NewPlant | undefined {
    const id = typeof parts.id === 'string' ? parsePlantId(parts.id) : undefined;
    return id !== undefined && isPlant(parts) ? new NewPlant(id, parts) : undefined;
  }

  /** Whether `value` was made by {@link NewPlant.from}. */
  static is(value: unknown): value is NewPlant {
    return typeof value === 'object' && value !== null && #valid in value && value.#valid;
  }
}

/** The rule of a plant: `name` is a non-empty string; `tag`, where present, a string; both of well-formed Unicode. */
export function isPlant(parts: { readonly name?: unknown; readonly tag?: unknown }): parts is Plant {
  const { name, tag } = parts;
  return isText(name) && name !== '' && (tag === undefined || isText(tag));
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed();
}
