import {
  type Command,
  type PlantEvent,
  type PlantList,
  type Rejection,
  columnsOf,
  plantDecider,
  plantFootprint,
} from '../domain';
import type { Kind } from '../event-sourcing';
import { plantCodec } from './plant-codec';
import { plantListCodec } from './plant-list-codec';

/** Plants as a kind of aggregate: the list of each user is one. */
export const plantKind: Kind<Command, PlantEvent, Rejection, PlantList> = {
  category: 'plants',
  decider: plantDecider,
  codec: plantCodec,
  stateCodec: plantListCodec,
  footprint: plantFootprint,
  item: 'plant',
  columnsOf: (event) => [
    event.id,
    ...columnsOf('plant' in event ? event.plant : {}).map((text) => text ?? ''),
  ],
  // Most JSON parsers, jq and JavaScript's among them, round large numbers: in an export the id is a text.
  exported: {
    write: (data) => data.replace(/^\{"id":(-?[0-9]+)/, '{"id":"$1"'),
    read: (exported) => exported.replace(/^\{"id":"(-?[0-9]+)"/, '{"id":$1'),
  },
};
