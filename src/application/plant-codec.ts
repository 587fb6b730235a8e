import { MEMBER_NAMES, type PlantEvent, type PlantId, isPlant, parsePlantId, plantOf } from '../domain';
import { type Codec, type EncodedEvent, parseJsonObject } from '../event-sourcing';

/**
 * The codec of plant events: the storage format of every store, and of exports.
 * Decision record 0003 explains it, and how it may evolve.
 *
 *     PlantCreated  {"id":9007199254740993,"name":"Fern","tag":"indoor"}
 *     PlantDeleted  {"id":9007199254740993}
 *
 * The data is JSON without whitespace; the id comes first and is exact. `decode` accepts only what `encode` writes.
 */
export const plantCodec: Codec<PlantEvent> = plantCodecWith({});

/** Upcasts the data of an old event type to the type and data of its successor. */
export type Upcaster = (data: string) => EncodedEvent;

/** @param upcasters by the event type that they read. */
export function plantCodecWith(upcasters: Readonly<Record<string, Upcaster>>): Codec<PlantEvent> {
  const upcasterOf = (type: string) => (Object.hasOwn(upcasters, type) ? upcasters[type] : undefined);
  return {
    encode,
    decode(encoded) {
      let current = encoded;
      for (let upcast = upcasterOf(current.type); upcast; upcast = upcasterOf(current.type))
        current = upcast(current.data);
      return decode(current);
    },
  };
}

/** The data of an event, not yet checked. */
interface Parts {
  /** The literal of the id; `undefined` if the data does not begin with one. */
  readonly id: string | undefined;
  readonly members: Readonly<Record<string, unknown>>;
}

interface Format<Event> {
  /** The parts of plain data: if they are valid, `encode` writes just this data. `undefined` for all other data. */
  plain(data: string): Parts | undefined;
  /** The members after the id, in the order in which they are written. */
  members(event: Event): object;
  /** The event with these members; `undefined` if they are invalid. */
  event(id: PlantId, members: Readonly<Record<string, unknown>>): Event | undefined;
}

const FORMATS: { readonly [Type in PlantEvent['type']]: Format<Extract<PlantEvent, { type: Type }>> } = {
  PlantCreated: {
    plain: plainReader(MEMBER_NAMES),
    members: ({ plant }) => plantOf(plant),
    event: (id, plant) => (isPlant(plant) ? { type: 'PlantCreated', id, plant } : undefined),
  },
  PlantDeleted: {
    plain: plainReader([]),
    members: () => ({}),
    event: (id) => ({ type: 'PlantDeleted', id }),
  },
};

/** Reads data with these members in order, of which each may be absent, and none has an escape. */
function plainReader(names: readonly string[]): (data: string) => Parts | undefined {
  const texts = names.map((name) => `(?:,"${name}":("[^"\\\\\\u0000-\\u001f]*"))?`);
  const plain = new RegExp(`^\\{"id":(-?[0-9]+)${texts.join('')}\\}$`);
  return (data) => {
    const found = plain.exec(data);
    if (found === null) return undefined;
    const members: Record<string, unknown> = {};
    for (let index = 0; index < names.length; index++) {
      const text = found[index + 2];
      // Copied, because a part of a text may keep the whole text in memory.
      if (text !== undefined) members[names[index]!] = JSON.parse(text);
    }
    return { id: found[1], members };
  };
}

function encode(event: PlantEvent): EncodedEvent {
  const { members } = FORMATS[event.type] as Format<PlantEvent>;
  const rest = JSON.stringify(members(event)).slice(1);
  return { type: event.type, data: `{"id":${event.id}${rest === '}' ? '' : ','}${rest}` };
}

function decode({ type, data }: EncodedEvent): PlantEvent | undefined {
  const format = Object.hasOwn(FORMATS, type) ? FORMATS[type as PlantEvent['type']] : undefined;
  // Most data is plain, and that is faster to read.
  const plain = format?.plain(data);
  const { id, members } = plain ?? partsOf(data);
  const plantId = parsePlantId(id ?? '');
  const event = plantId && format?.event(plantId, members);
  // Rejects additional and duplicate members, another order and another spelling: all of them encode differently.
  return event && (plain || encode(event).data === data) ? event : undefined;
}

// The id is parsed from the text, because JSON.parse would round it.
const LEADING_ID = /^\{"id":(-?[0-9]+)[,}]/;

/** The parts of any data. */
function partsOf(data: string): Parts {
  const members: Record<string, unknown> = { ...parseJsonObject(data) };
  delete members['id'];
  return { id: LEADING_ID.exec(data)?.[1], members };
}
