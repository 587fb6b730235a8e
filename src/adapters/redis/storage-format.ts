import { type RecordedEvent, UnreadableHistory } from '../../application';
import { type PlantEvent, eventFrom, parsePlantId } from '../../domain';

/**
 * How an event stands in a Redis stream; docs/decisions/0003-storage-format.md
 * says why, and how it may evolve:
 *
 *     7-0  type PlantCreated  data {"id":9007199254740993,"name":"Fern"}  commit 2026-11-20T21:20:33.123Z-9f2c51d07b3a88e4
 *
 * The entry id is the version. The fields are always these three in this order,
 * so Redis stores their names once a node. `data` is JSON with the id first, in
 * exact digits. Whatever is not exactly so was written by somebody else or by
 * a later version of this service: it is refused, never skipped or guessed at.
 */
export type Entry = readonly [id: string, fields: readonly string[]];

interface Stored {
  readonly type: string;
  readonly data: string;
}

/** Rewrites an event of a type that is no longer written into its successor, on reading. */
export type Upcaster = (data: string) => Stored;

/** By the stored type. The place for events of the past; there are none yet. */
export const UPCASTERS: Readonly<Record<string, Upcaster>> = {};

export function encodeEvent(event: PlantEvent): Stored {
  switch (event.type) {
    case 'PlantCreated': {
      const tag = event.tag === undefined ? '' : `,"tag":${JSON.stringify(event.tag)}`;
      return { type: event.type, data: `{"id":${event.id},"name":${JSON.stringify(event.name)}${tag}}` };
    }
    case 'PlantDeleted':
      return { type: event.type, data: `{"id":${event.id}}` };
  }
}

/** The event at `version`. Throws {@link UnreadableHistory}. */
export function decodeEntry([id, fields]: Entry, version: number, upcasters = UPCASTERS): RecordedEvent {
  if (id !== `${version}-0`)
    throw new UnreadableHistory(`entry ${id} stands where version ${version} was expected`);
  const [typeName, type, dataName, data, commitName, commit] = fields;
  const asWritten =
    fields.length === 6 && typeName === 'type' && dataName === 'data' && commitName === 'commit';
  if (!asWritten) throw new UnreadableHistory(`entry ${id} does not have the fields type, data and commit`);

  let stored: Stored = { type: type!, data: data! };
  for (let upcast = own(upcasters, stored.type); upcast; upcast = own(upcasters, stored.type))
    stored = upcast(stored.data);
  const event = decodeEvent(stored);
  if (event === undefined)
    throw new UnreadableHistory(`entry ${id} holds no ${stored.type} that this version knows`);
  return { version, commit: commit!, event };
}

function decodeEvent({ type, data }: Stored): PlantEvent | undefined {
  const id = parsePlantId(LEADING_ID.exec(data)?.[1] ?? '');
  const { name, tag } = parseMembers(data);
  const event = eventFrom({ type, id, name, tag });
  // Nothing but what encodeEvent writes: no member more or twice, in no other order or spelling.
  return event && encodeEvent(event).data === data ? event : undefined;
}

// The id is read off the text, since JSON.parse would round it.
const LEADING_ID = /^\{"id":(-?[0-9]+)[,}]/;

function parseMembers(data: string): Readonly<Record<string, unknown>> {
  try {
    return (JSON.parse(data) as Record<string, unknown> | null) ?? {};
  } catch {
    return {};
  }
}

function own(upcasters: Readonly<Record<string, Upcaster>>, type: string): Upcaster | undefined {
  return Object.hasOwn(upcasters, type) ? upcasters[type] : undefined;
}
