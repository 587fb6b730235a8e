import {
  MEMBER_NAMES,
  type PlantEvent,
  type PlantId,
  isPlant,
  parsePlantId,
  plantCreated,
  plantOf,
} from '../domain';
import { type Codec, type EncodedEvent, parseJsonObject } from '../event-sourcing';

/**
 * The codec of plant events: the storage format of every store, and of exports.
 * docs/decisions/0003-storage-format.md explains it, and how it may evolve.
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

interface Format<Event> {
  /** Matches only what `encode` writes, if the data is valid; not all of it. */
  readonly plain: RegExp;
  /** The members after the id, in the order in which they are written. */
  members(event: Event): object;
  /** The event with these members; `undefined` if they are invalid. */
  event(id: PlantId, members: Readonly<Record<string, unknown>>): Event | undefined;
}

const FORMATS: { readonly [Type in PlantEvent['type']]: Format<Extract<PlantEvent, { type: Type }>> } = {
  PlantCreated: {
    plain: plainTexts(MEMBER_NAMES),
    members: plantOf,
    event: (id, members) => (isPlant(members) ? plantCreated(id, members) : undefined),
  },
  PlantDeleted: {
    plain: plainTexts([]),
    members: () => ({}),
    event: (id) => ({ type: 'PlantDeleted', id }),
  },
};

/** The data of events with an id and these members in order, of which each may be absent, and none has an escape. */
function plainTexts(members: readonly string[]): RegExp {
  const texts = members.map((name) => `(?:,"${name}":"[^"\\\\\\u0000-\\u001f]*")?`);
  return new RegExp(`^\\{"id":-?[0-9]+${texts.join('')}\\}$`);
}

function encode(event: PlantEvent): EncodedEvent {
  const { members } = FORMATS[event.type] as Format<PlantEvent>;
  const rest = JSON.stringify(members(event)).slice(1);
  return { type: event.type, data: `{"id":${event.id}${rest === '}' ? '' : ','}${rest}` };
}

// The id is parsed from the text, because JSON.parse would round it.
const LEADING_ID = /^\{"id":(-?[0-9]+)[,}]/;

function decode({ type, data }: EncodedEvent): PlantEvent | undefined {
  const format = Object.hasOwn(FORMATS, type) ? FORMATS[type as PlantEvent['type']] : undefined;
  const id = parsePlantId(LEADING_ID.exec(data)?.[1] ?? '');
  if (format === undefined || id === undefined) return undefined;
  const event = format.event(id, parseJsonObject(data));
  // Rejects additional and duplicate members, another order and another spelling: all of them encode differently. Most
  // events are plain, and that is faster to see.
  return event && (format.plain.test(data) || encode(event).data === data) ? event : undefined;
}
