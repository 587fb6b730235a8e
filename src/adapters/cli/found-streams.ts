import { type User } from '../../application';
import { type CataloguedStream, type StreamCatalogue } from '../../event-sourcing';

export interface FoundStreams {
  /** Sorted by name, so that the output is deterministic. */
  readonly streams: readonly CataloguedStream[];
  readonly foreign: readonly string[];
  /** The requested users without a stream. */
  readonly missing: readonly User[];
  /** Total number of events. */
  readonly events: number;
}

/** Finds the streams of `users`, or all streams if `users` is empty. Holds their names, not their events. */
export async function findStreams(catalogue: StreamCatalogue, users: readonly User[]): Promise<FoundStreams> {
  const streams: CataloguedStream[] = [];
  const foreign: string[] = [];
  const missing: User[] = [];
  if (users.length > 0) {
    for (const user of users) {
      const found = await catalogue.find(user);
      if (found === undefined) missing.push(user);
      else streams.push(found);
    }
  } else {
    for await (const found of catalogue.streams()) {
      if ('foreign' in found) foreign.push(found.foreign);
      else streams.push(found);
    }
  }
  streams.sort((a, b) => (a.stream < b.stream ? -1 : 1));
  const events = streams.reduce((sum, { version }) => sum + version, 0);
  return { streams, foreign, missing, events };
}
