import type { EncodedEvent, StoredEvent } from './ports/event-store';
import { UnreadableHistory } from './ports/faults';
import { BrokenSnapshot, type StoredSnapshot } from './ports/snapshot-store';

/**
 * Encodes a domain's events as text and decodes them, for any store.
 *
 * `decode` reverses `encode` exactly. It also reads events that earlier versions of the domain wrote, and upcasts
 * them to today's events. It returns `undefined` for any other text.
 */
export interface Codec<Event> {
  encode(event: Event): EncodedEvent;
  decode(encoded: EncodedEvent): Event | undefined;
}

/** A recorded event, as its domain knows it and as it is stored. */
export interface RecordedEvent<Event> extends StoredEvent {
  readonly event: Event;
}

/** The event that is stored. Throws {@link UnreadableHistory} if the codec cannot decode it. */
export function decodeEvent<Event>(codec: Codec<Event>, stored: StoredEvent): Event {
  let event: Event | undefined;
  let fault: { readonly cause: unknown } | undefined;
  try {
    event = codec.decode(stored);
  } catch (cause) {
    fault = { cause };
  }
  if (event !== undefined) return event;
  throw new UnreadableHistory(`event ${stored.version} is not a valid ${stored.type} of this version`, fault);
}

/** A stored event with that of its domain. Throws {@link UnreadableHistory} if the codec cannot decode it. */
export function recordedEvent<Event>(codec: Codec<Event>, stored: StoredEvent): RecordedEvent<Event> {
  // No spread: in Node 20, an object that gets a member after a spread has a hidden class of its own, which only a full
  // collection frees.
  const { version, commit, type, data } = stored;
  return { version, commit, type, data, event: decodeEvent(codec, stored) };
}

/** Encodes a domain's states as text and decodes them, for any snapshot store. */
export interface StateCodec<State> {
  /** Name and version of the format that `encode` writes. */
  readonly format: string;

  /**
   * The state of this moment, in one or more chunks of about 32 KiB: each takes a few milliseconds to encode and to
   * decode. Later changes of `state` do not show in them.
   */
  encode(state: State): Iterable<string>;

  /**
   * By the name of each format that was ever written. A snapshot of another format is not used, but a base snapshot
   * cannot be replaced: without its reader, the stream cannot be read any more.
   */
  readonly readers: Readonly<Record<string, StateReader<State>>>;
}

/**
 * The state with the next chunk, beginning with the initial state. After the last chunk it equals the encoded one.
 * May change `state` in place. Throws any error if the chunk is invalid.
 */
// A method, like those of the codecs and deciders: so kinds with different states can be in one list.
export type StateReader<State> = { read(state: State, chunk: string): State }['read'];

/** The reader of a format. Throws {@link BrokenSnapshot} if there is none. */
export function readerOf<State>({ readers }: StateCodec<State>, format: string): StateReader<State> {
  const reader = Object.hasOwn(readers, format) ? readers[format] : undefined;
  if (reader) return reader;
  throw new BrokenSnapshot(`its format is ${format}, expected ${Object.keys(readers).join(' or ')}`);
}

/** The state of a snapshot, decoded chunk by chunk from `initial` on. Throws any error if it cannot be decoded. */
export async function decodeSnapshot<State>(
  codec: StateCodec<State>,
  initial: State,
  { format, chunks }: Pick<StoredSnapshot, 'format' | 'chunks'>,
): Promise<State> {
  const readNext = readerOf(codec, format);
  let state = initial;
  for await (const chunk of chunks) state = readNext(state, chunk);
  return state;
}
