import { plantKind } from '../../application';
import type { PlantList } from '../../domain';
import type { AnyKind, Kind } from '../../event-sourcing';

/** How the command line shows the streams of a kind. */
interface Shown<State> {
  /** What a state consists of, which commands count. */
  readonly items?: { readonly name: string; count(state: State): number };
  /**
   * Changes the data of an event for exports, because many readers round large JSON numbers. Each method reverses the
   * other. By default the data is exported as it is stored.
   */
  readonly exported?: { write(data: string): string; read(exported: string): string };
}

/** A kind of aggregate, with how the command line shows its streams. */
export interface CliKind extends AnyKind, Shown<unknown> {}

/** Adds to `kind` how it is shown. */
export function shown<State>(
  kind: Kind<unknown, unknown, unknown, State, unknown>,
  how: Shown<State>,
): CliKind {
  return { ...kind, ...how };
}

/** Every kind of aggregate, for the commands. */
export const KINDS: readonly CliKind[] = [
  shown<PlantList>(plantKind, {
    items: { name: 'plant', count: (list) => list.size },
    // Most JSON parsers round large numbers, including jq and JavaScript, so an export writes the id as text.
    exported: {
      write: (data) => data.replace(/^\{"id":(-?[0-9]+)/, '{"id":"$1"'),
      read: (exported) => exported.replace(/^\{"id":"(-?[0-9]+)"/, '{"id":$1'),
    },
  }),
];
