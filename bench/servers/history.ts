/**
 * What the event-sourced peers begin with: streams of so many events each, one
 * stream a user. A list shows 100 plants, or as many as there are events where
 * these are fewer. Requests go round all streams, so that what is appended
 * while measuring makes none of them much longer.
 */
import { PLANT, type NewPlant } from './shared';

const LIVING = 100;

export type PlantEvent =
  | { readonly type: 'PlantCreated'; readonly data: NewPlant }
  | { readonly type: 'PlantDeleted'; readonly data: { readonly id: number } };

/** From the command line. */
export const EVENTS = Number(process.argv[2]);

/** As many as hold 400,000 events together, so that all take about the same memory; 20,000 at most. */
export const STREAMS = Math.min(20_000, 400_000 / EVENTS);

/** Ids below 0: those above are the benchmark's. */
export function* history(): Generator<PlantEvent> {
  const living = Math.min(LIVING, EVENTS);
  let id = -1;
  for (let pairs = (EVENTS - living) / 2; pairs > 0; pairs--, id--) {
    yield { type: 'PlantCreated', data: { id, ...PLANT } };
    yield { type: 'PlantDeleted', data: { id } };
  }
  for (let left = living; left > 0; left--, id--) yield { type: 'PlantCreated', data: { id, ...PLANT } };
}

/** Of one user: the projection that is made anew from the stream for every request. */
export class Projection {
  readonly plants = new Map<number, NewPlant>();

  with({ type, data }: PlantEvent): this {
    if (type === 'PlantCreated') this.plants.set(data.id, data);
    else this.plants.delete(data.id);
    return this;
  }

  list() {
    return Array.from(this.plants.values(), ({ name, tag }) =>
      tag === undefined ? { name } : { name, tag },
    );
  }
}
