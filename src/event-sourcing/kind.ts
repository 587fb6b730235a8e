import type { Footprint } from './aggregate/aggregate-options';
import type { Codec, StateCodec } from './codec';
import type { Decider } from './decider';
import { type StreamName, partsOf } from './ports/stream-name';

/** One kind of aggregate: its rules, its formats, and how an operator reads it. Its streams have a category of their own. */
export interface Kind<Command, Event, Rejection, State> {
  /** The first part of the names of its streams. */
  readonly category: string;
  readonly decider: Decider<Command, Event, Rejection, State>;
  /** The data of each event is a JSON object without whitespace. */
  readonly codec: Codec<Event>;
  readonly stateCodec: StateCodec<State>;
  /** Also counts the items that commands report. */
  readonly footprint: Footprint<Command, State>;
  /** How commands name an item of the state, in the singular: `plant`. */
  readonly item: string;
  /** The columns of an event after its type, as `events tail` shows them. */
  columnsOf(event: Event): readonly string[];
  /** How the data of an event is written in exports, also as a JSON object; as it is by default. */
  readonly exported?: ExportedData;
}

/** Data in an export, for readers that do not parse every JSON number exactly. Each method reverses the other. */
export interface ExportedData {
  write(data: string): string;
  read(exported: string): string;
}

/** A kind in a list with others. The states and events of a stream are passed only to the functions of its own kind. */
export type AnyKind = Kind<unknown, unknown, unknown, unknown>;

/** The kind of a stream, by its category; `undefined` if none of `kinds` has that. */
export function kindOf(kinds: readonly AnyKind[], stream: StreamName): AnyKind | undefined {
  const { category } = partsOf(stream);
  return kinds.find((kind) => kind.category === category);
}
