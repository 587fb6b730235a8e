import { plantKind } from '../../application';
import type { AnyKind, Kind } from '../../event-sourcing';

/**
 * `items` is what `events verify` counts in a state, such as plants; nothing by default.
 *
 * `exportFormat` converts the data of an event for exports, because most readers of JSON, including
 * jq and JavaScript, round large numbers. Each of its two methods must reverse the other, and `write`
 * must return a JSON object without line feeds. By default the data is exported as it is stored.
 */
interface KindDisplay<State> {
  readonly items?: { readonly name: string; count(state: State): number };
  readonly exportFormat?: { write(data: string): string; read(exportedData: string): string };
}

export interface CliKind extends AnyKind, KindDisplay<unknown> {}

export function toCliKind<Command, Event, Rejection, State, Result>(
  kind: Kind<Command, Event, Rejection, State, Result>,
  display: KindDisplay<State> = {},
): CliKind {
  return { ...kind, ...display };
}

export const KINDS: readonly CliKind[] = [
  toCliKind(plantKind, {
    items: { name: 'plant', count: (list) => list.size },
    // An export writes the id as text.
    exportFormat: {
      write: (data) => data.replace(/^\{"id":(-?[0-9]+)/, '{"id":"$1"'),
      read: (exportedData) => exportedData.replace(/^\{"id":"(-?[0-9]+)"/, '{"id":$1'),
    },
  }),
];
