import { plantKind } from '../../application';
import type { AnyKind, Kind } from '../../event-sourcing';

interface Shown<State> {
  /** The items of a state, which commands count. */
  readonly items?: { readonly name: string; count(state: State): number };
  /**
   * Converts the data of an event for exports, because many readers of JSON round large numbers. Each method reverses the
   * other. By default the data is exported as it is stored.
   */
  readonly exported?: { write(data: string): string; read(exported: string): string };
}

export interface CliKind extends AnyKind, Shown<unknown> {}

/** Adds to `kind` how the command line shows it; by default, as it is stored. */
export function shown<Command, Event, Rejection, State, Result>(
  kind: Kind<Command, Event, Rejection, State, Result>,
  how: Shown<State> = {},
): CliKind {
  return { ...kind, ...how };
}

/** Every kind of aggregate of this service. */
export const KINDS: readonly CliKind[] = [
  shown(plantKind, {
    items: { name: 'plant', count: (list) => list.size },
    // Most JSON parsers round large numbers, including jq and JavaScript, so an export writes the id as text.
    exported: {
      write: (data) => data.replace(/^\{"id":(-?[0-9]+)/, '{"id":"$1"'),
      read: (exported) => exported.replace(/^\{"id":"(-?[0-9]+)"/, '{"id":$1'),
    },
  }),
];
