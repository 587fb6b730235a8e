import { type Codec, type RecordedEvent, UnreadableHistory } from '../../event-sourcing';

/**
 * The format of an event in a Redis stream; docs/decisions/0003-storage-format.md explains it:
 *
 *     7-0  type PlantCreated  data {"id":9007199254740993,"name":"Fern"}  commit 2026-11-20T21:20:33.123Z-9f2c51d07b3a88e4
 *
 * The entry id is the version. There are always these three fields in this order, so Redis stores their names once
 * per node. Type and data are the encoded event. Any other entry was written by another program, or by a later version
 * of this one, and is an error.
 */
export type Entry = readonly [id: string, fields: readonly string[]];

/** The event at `version`. Throws {@link UnreadableHistory}. */
export function decodeEntry<Event>(
  [id, fields]: Entry,
  version: number,
  codec: Codec<Event>,
): RecordedEvent<Event> {
  if (id !== `${version}-0`) throw new UnreadableHistory(`entry ${id} found, expected version ${version}`);
  const [typeName, type, dataName, data, commitName, commit] = fields;
  const asWritten =
    fields.length === 6 && typeName === 'type' && dataName === 'data' && commitName === 'commit';
  if (!asWritten) throw new UnreadableHistory(`entry ${id} does not have the fields type, data and commit`);
  const event = codec.decode({ type: type!, data: data! });
  if (event === undefined) throw new UnreadableHistory(`entry ${id} is not a valid ${type!} of this version`);
  return { version, commit: commit!, event };
}
