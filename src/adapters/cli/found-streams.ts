import { type CataloguedStream, type StreamCatalogue, type StreamName } from '../../event-sourcing';

export interface FoundStreams {
  /** Sorted by name, so that the output is deterministic. */
  readonly streams: readonly CataloguedStream[];
  readonly foreign: readonly string[];
  /** The requested streams that do not exist. */
  readonly missing: readonly StreamName[];
  /** Total number of events. */
  readonly events: number;
}

/** Finds `requested`, or all streams if that is empty. Holds their names, not their events. */
export async function findStreams(
  catalogue: StreamCatalogue,
  requested: readonly StreamName[],
): Promise<FoundStreams> {
  const streams: CataloguedStream[] = [];
  const foreign: string[] = [];
  const missing: StreamName[] = [];
  if (requested.length > 0) {
    for (const stream of requested) {
      const found = await catalogue.find(stream);
      if (found === undefined) missing.push(stream);
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
