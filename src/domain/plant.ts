import { PLANT_ID_RULE, type PlantId, SHORT_ID, parsePlantId } from './plant-id';

/** A member of a plant: a text of well-formed Unicode, which is never normalized. */
export interface Member {
  /** Whether a plant may be without it. An empty text differs from an absent one. */
  readonly optional: boolean;
  /** In UTF-16 code units. */
  readonly minLength: 0 | 1;
  /** What it says: a sentence for the users of every interface. */
  readonly description: string;
}

/**
 * The members of a plant besides its id, in the order in which every text has them. This is the only list of them: types,
 * rules, events, snapshots, schemas and columns follow from it.
 *
 * WARNING: recorded events are never rewritten. So no member may be renamed, moved or removed, and a new one is the last
 * one, and optional.
 */
export const MEMBERS = {
  name: { optional: false, minLength: 1, description: 'The name of the plant.' },
  tag: { optional: true, minLength: 0, description: 'A tag that specifies the type.' },
} as const satisfies Readonly<Record<string, Member>>;

type Members = typeof MEMBERS;
export type MemberName = keyof Members;
type OptionalName = {
  [Name in MemberName]: Members[Name]['optional'] extends true ? Name : never;
}[MemberName];

/** The names of all members, in order. */
export const MEMBER_NAMES = Object.keys(MEMBERS) as readonly MemberName[];

/** The plant as clients read it, without its id. */
export type Plant = { readonly [Name in Exclude<MemberName, OptionalName>]: string } & {
  readonly [Name in OptionalName]?: string;
};

/** The members of a plant to be created, before validation. */
export type PlantParts = { readonly id: unknown } & UnknownMembers;

type UnknownMembers = { readonly [Name in MemberName]?: unknown };

/** A member of a plant to be created, and the rule that it breaks. */
export interface InvalidMember {
  readonly member: 'id' | MemberName;
  /** For the sentence `<member> must be <rule>`. */
  readonly rule: string;
}

/** A valid plant to be created. {@link NewPlant.from} is the only way to create an instance. */
export class NewPlant {
  /** Makes the type nominal: an object with the same members is not a NewPlant. */
  readonly #valid = true;

  private constructor(
    readonly id: PlantId,
    readonly members: Plant,
  ) {
    Object.freeze(this);
  }

  /** The plant with these members, or its first invalid member. The id is canonical text. Other members are ignored. */
  static from(
    parts: PlantParts,
  ):
    | { readonly plant: NewPlant; readonly invalid?: undefined }
    | { readonly plant?: undefined; readonly invalid: InvalidMember } {
    const id = typeof parts.id === 'string' ? parsePlantId(parts.id) : undefined;
    if (id === undefined) return { invalid: { member: 'id', rule: PLANT_ID_RULE } };
    if (isPlant(parts)) return { plant: new NewPlant(id, Object.freeze(plantOf(parts))) };
    const member = MEMBER_NAMES.find((name) => !isMember(name, parts[name]))!;
    return { invalid: { member, rule: ruleOf(member) } };
  }

  /** Whether `value` was created by {@link NewPlant.from}. */
  static is(value: unknown): value is NewPlant {
    return typeof value === 'object' && value !== null && #valid in value && value.#valid;
  }
}

/** Whether each member of {@link MEMBERS} keeps its rule. */
export function isPlant(parts: UnknownMembers): parts is Plant {
  return MEMBER_NAMES.every((name) => isMember(name, parts[name]));
}

/** Whether `value` may be this member; `undefined` is an absent one. */
function isMember(name: MemberName, value: unknown): boolean {
  const { optional, minLength }: Member = MEMBERS[name];
  if (value === undefined) return optional;
  return typeof value === 'string' && value.length >= minLength && value.isWellFormed();
}

/** The rule of a member, for the sentence `name must be …`. */
export function ruleOf(name: MemberName): string {
  return MEMBERS[name].minLength === 0
    ? 'a string in well-formed Unicode'
    : 'a string of at least one character, in well-formed Unicode';
}

/** A new object with the members of a plant that are there, in order, and no others. */
export function plantOf(plant: Plant): Plant {
  const members: Partial<Record<MemberName, string>> = {};
  for (const name of MEMBER_NAMES) {
    const text = plant[name];
    if (text !== undefined) members[name] = text;
  }
  return members as Plant;
}

/** The members in order, up to the last one that the plant, or an event, has; one that it does not have is undefined. */
export function columnsOf(plant: Partial<Plant>): readonly (string | undefined)[] {
  const columns: (string | undefined)[] = MEMBER_NAMES.map((name) => plant[name]);
  return columns.slice(0, columns.findLastIndex((text) => text !== undefined) + 1);
}

/** The length of all its texts, in UTF-16 code units. */
export function charactersOf(plant: Plant): number {
  let sum = 0;
  for (const name of MEMBER_NAMES) sum += plant[name]?.length ?? 0;
  return sum;
}

/** Map entry, segment slots and the object of one plant without its texts, in bytes. */
const PLANT_BYTES = 120;
/** Header of a string on the heap, in bytes. */
const TEXT_BYTES = 16;
/** From this length on, a text is checked for whether V8 stores one byte or two per character. */
const LONG_TEXT = 64;

/** Estimated memory of a living plant, in bytes; rather too high than too low. */
export function plantBytes(id: PlantId, plant: Plant): number {
  let sum = PLANT_BYTES + textBytes(id.length > SHORT_ID ? id : undefined);
  for (const name of MEMBER_NAMES) sum += textBytes(plant[name]);
  return sum;
}

function textBytes(text: string | undefined): number {
  if (text === undefined) return 0;
  const wide = text.length < LONG_TEXT || /[^\0-\xff]/.test(text);
  return TEXT_BYTES + (wide ? 2 : 1) * text.length;
}
