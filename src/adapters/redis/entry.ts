import { isUtf8 } from 'node:buffer';
import { type EncodedEvent, type StoredEvent, UnreadableHistory } from '../../event-sourcing';

/**
 * The format of an event in a Redis stream; decision record 0003 explains it:
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
 * The entries that a Lua script packed: for each its id, type, data and commit, each after its length in bytes (32
 * bits, big-endian).
 */
export class PackedEntries {
  #offset = 0;

  constructor(private readonly packed: Buffer) {}

  /** The next entry; `undefined` after the last one. Throws {@link UnreadableHistory} if a text is not UTF-8. */
  next(): Entry | undefined {
    if (this.#offset === this.packed.length) return undefined;
    const id = this.#text(this.#length())!;
    const typeLength = this.#length();
    if (typeLength === OTHER_FIELDS) return { id };
    const type = this.#text(typeLength);
    const data = this.#text(this.#length());
    const commit = this.#text(this.#length());
    if (type === undefined || data === undefined || commit === undefined)
      throw new UnreadableHistory(`entry ${id} is not UTF-8`);
    return { id, recorded: { type, data, commit } };
  }

  /** All further entries. */
  rest(): Entry[] {
    const entries: Entry[] = [];
    for (let entry = this.next(); entry !== undefined; entry = this.next()) entries.push(entry);
    return entries;
  }

  #length(): number {
    this.#offset += 4;
    return this.packed.readUInt32BE(this.#offset - 4);
  }

  #text(bytes: number): string | undefined {
    const start = this.#offset;
    this.#offset += bytes;
    const decoded = this.packed.toString('utf8', start, this.#offset);
    // Node replaces invalid bytes by U+FFFD, which may also have been written.
    if (decoded.includes('\ufffd') && !isUtf8(this.packed.subarray(start, this.#offset))) return undefined;
    return decoded;
  }
}

/** The event at `version`. Throws {@link UnreadableHistory} if the entry has another id or other fields. */
export function eventOf({ id, recorded }: Entry, version: number): StoredEvent {
  if (id !== `${version}-0`) throw new UnreadableHistory(`entry ${id} found, expected version ${version}`);
  if (recorded === undefined)
    throw new UnreadableHistory(`entry ${id} does not have the fields type, data and commit`);
  return { version, ...recorded };
}
