import { type PlantId, SHORT_ID, parsePlantId } from './plant-id';

/** The plant as clients read it, without its id. */
export interface Plant {
  /** At least one character of well-formed Unicode; never normalized. */
  readonly name: string;
  /** Any well-formed string. An empty tag differs from an absent one. */
  readonly tag?: string;
}

/** The members of a plant to be created, before validation. */
export interface PlantParts {
  readonly id: unknown;
  readonly name: unknown;
  readonly tag?: unknown;
}

/** A valid plant to be created. {@link NewPlant.from} is the only way to create an instance. */
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

  /** A plant with these members; `undefined` if the id is not canonical, or {@link isPlant} is false. */
  static from(parts: PlantParts): NewPlant | undefined {
    const id = typeof parts.id === 'string' ? parsePlantId(parts.id) : undefined;
    return id !== undefined && isPlant(parts) ? new NewPlant(id, parts) : undefined;
  }

  /** Whether `value` was created by {@link NewPlant.from}. */
  static is(value: unknown): value is NewPlant {
    return typeof value === 'object' && value !== null && #valid in value && value.#valid;
  }
}

/** Whether `name` is a non-empty string and `tag` a string or absent, both of well-formed Unicode. */
export function isPlant(parts: { readonly name?: unknown; readonly tag?: unknown }): parts is Plant {
  const { name, tag } = parts;
  return isText(name) && name !== '' && (tag === undefined || isText(tag));
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed();
}

/** Map entry, segment slots and the object of one plant without its texts, in bytes. */
const PLANT_BYTES = 120;
/** Header of a string on the heap, in bytes. */
const TEXT_BYTES = 16;
/** From this length on, a text is checked for whether V8 stores one byte or two per character. */
const LONG_TEXT = 64;

/** Estimated memory of a living plant, in bytes; rather too high than too low. */
export function plantBytes(id: PlantId, { name, tag }: Plant): number {
  return (
    PLANT_BYTES +
    (id.length > SHORT_ID ? textBytes(id) : 0) +
    textBytes(name) +
    (tag === undefined ? 0 : textBytes(tag))
  );
}

function textBytes(text: string): number {
  const wide = text.length < LONG_TEXT || /[^\0-\xff]/.test(text);
  return TEXT_BYTES + (wide ? 2 : 1) * text.length;
}
