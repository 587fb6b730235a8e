import type { User } from '../../application';
import {
  type AnyKind,
  type CataloguedStream,
  type StreamCatalogue,
  type StreamName,
  kindOf,
  streamOf,
} from '../../event-sourcing';

export interface StreamOfKind {
  readonly stream: StreamName;
  readonly kind: AnyKind;
}

export type FoundStream = StreamOfKind & CataloguedStream;

interface FoundStreams {
  /** Sorted by name, so that the output is deterministic. */
  readonly streams: readonly FoundStream[];
  /** Streams of a category that no kind has, also sorted. */
  readonly unknown: readonly StreamName[];
  readonly foreign: readonly string[];
  /** The requested users of whom no stream exists. */
  readonly missing: readonly User[];
  /** Total number of events. */
  readonly events: number;
}

/** The streams that a user can have. */
export function streamsOf(kinds: readonly AnyKind[], user: User): StreamOfKind[] {
  return kinds.map((kind) => ({ kind, stream: streamOf(kind.category, user) }));
}

/** Finds the streams of `users`, or all streams if that is empty. Holds their names, not their events. */
export async function findStreams(
  catalogue: StreamCatalogue,
  kinds: readonly AnyKind[],
  users: readonly User[],
): Promise<FoundStreams> {
  const streams: FoundStream[] = [];
  const unknown: StreamName[] = [];
  const foreign: string[] = [];
  const missing: User[] = [];
  for (const user of users) {
    const before = streams.length;
    for (const { stream, kind } of streamsOf(kinds, user)) {
      const found = await catalogue.find(stream);
      if (found !== undefined) streams.push({ ...found, kind });
    }
    if (streams.length === before) missing.push(user);
  }
  if (users.length === 0)
    for await (const found of catalogue.streams()) {
      if ('foreign' in found) {
        foreign.push(found.foreign);
        continue;
      }
      const kind = kindOf(kinds, found.stream);
      if (kind === undefined) unknown.push(found.stream);
      else streams.push({ ...found, kind });
    }
  streams.sort((a, b) => (a.stream < b.stream ? -1 : 1));
  const events = streams.reduce((sum, { version }) => sum + version, 0);
  return { streams, unknown: unknown.sort(), foreign, missing, events };
}
