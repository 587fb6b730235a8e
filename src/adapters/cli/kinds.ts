import { plantKind } from '../../application';
import type { AnyKind, Kind } from '../../event-sourcing';

interface KindDisplay<State> {
  /** What `events verify` counts in a state, such as plants. */
  readonly items?: { readonly name: string; count(state: State): number };
  /**
   * Converts the data of an event for exports, because many readers of JSON round large numbers.
   * Each of the two methods must reverse the other, and `write` must return a JSON object without
   * line feeds. By default the data is exported as it is stored.
   */
  readonly exportFormat?: { write(data: string): string; read(exportedData: string): string };
}

export interface CliKind extends AnyKind, KindDisplay<unknown> {}

/**
 * Returns `kind` with the way in which the command line shows it. By default, events are exported
 * as they are stored, and nothing is counted.
 */
export function toCliKind<Command, Event, Rejection, State, Result>(
  kind: Kind<Command, Event, Rejection, State, Result>,
  display: KindDisplay<State> = {},
): CliKind {
  return { ...kind, ...display };
}

export const KINDS: readonly CliKind[] = [
  toCliKind(plantKind, {
    items: { name: 'plant', count: (list) => list.size },
    // Most JSON parsers round large numbers, including jq and JavaScript, so an export writes the
    // id as text.
    exportFormat: {
      write: (data) => data.replace(/^\{"id":(-?[0-9]+)/, '{"id":"$1"'),
      read: (exportedData) => exportedData.replace(/^\{"id":"(-?[0-9]+)"/, '{"id":$1'),
    },
  }),
];
