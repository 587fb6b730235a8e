import { isUtf8 } from 'node:buffer';
import { type Codec, type EncodedEvent, type RecordedEvent, UnreadableHistory } from '../../event-sourcing';

/**
 * The format of an event in a Redis stream; docs/decisions/0003-storage-format.md explains it:
 *
 *     7-0  type PlantCreated  data {"id":9007199254740993,"name":"Fern"}  commit 1795209633123482913
 *
 * The entry id is the version. There are always these three fields in this order, so Redis stores their names once
 * per node. Type and data are the encoded event. Any other entry was written by another program, or by a later version
 * of this one, and is an error.
 */
export interface Entry {
  readonly id: string;
  /** Absent if the entry does not have these fields. */
  readonly recorded?: EncodedEvent & { readonly commit: string };
}

/** In place of a length: the entry has other fields. */
const OTHER_FIELDS = 0xffff_ffff;

/**
 * The entries that a Lua script packed: for each its id, type, data and commit, each after its length in
 * bytes (32 bits, big-endian). Throws {@link UnreadableHistory} if a text is not UTF-8.
 */
export function unpackEntries(packed: Buffer): Entry[] {
  let offset = 0;
  const length = () => {
    offset += 4;
    return packed.readUInt32BE(offset - 4);
  };
  const text = (bytes: number) => {
    const start = offset;
    offset += bytes;
    const decoded = packed.toString('utf8', start, offset);
    // Node replaces invalid bytes by U+FFFD, which may also have been written.
    if (decoded.includes('\ufffd') && !isUtf8(packed.subarray(start, offset))) return undefined;
    return decoded;
  };

  const entries: Entry[] = [];
  while (offset < packed.length) {
    const id = text(length())!;
    const typeLength = length();
    if (typeLength === OTHER_FIELDS) {
      entries.push({ id });
      continue;
    }
    const [type, data, commit] = [text(typeLength), text(length()), text(length())];
    if (type === undefined || data === undefined || commit === undefined)
      throw new UnreadableHistory(`entry ${id} is not UTF-8`);
    entries.push({ id, recorded: { type, data, commit } });
  }
  return entries;
}

/** The event at `version`. Throws {@link UnreadableHistory}. */
export function decodeEntry<Event>(
  { id, recorded }: Entry,
  version: number,
  codec: Codec<Event>,
): RecordedEvent<Event> {
  if (id !== `${version}-0`) throw new UnreadableHistory(`entry ${id} found, expected version ${version}`);
  if (recorded === undefined)
    throw new UnreadableHistory(`entry ${id} does not have the fields type, data and commit`);
  const event = codec.decode(recorded);
  if (event === undefined)
    throw new UnreadableHistory(`entry ${id} is not a valid ${recorded.type} of this version`);
  return { version, commit: recorded.commit, event };
}
