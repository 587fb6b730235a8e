import { type CataloguedStream, type StreamCatalogue, type User } from '../../application';

export interface FoundStreams {
  /** In the order of their names, so that the same store always gives the same output. */
  readonly streams: readonly CataloguedStream[];
  readonly foreign: readonly string[];
  /** Of `users`, who has none. */
  readonly missing: readonly User[];
  /** How many events there are in all. */
  readonly events: number;
}

/** The streams of `users`, or all there are where none is named. Holds their names, not their events. */
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
