/**
 * The initial history of the event-sourced servers: streams of a given number of events, one
 * stream per user. A list has 100 plants, or one plant per event if
 * there are fewer events. Requests use all streams in turn, so that the appends
 * of the measurement make no stream much longer.
 */
import { PLANT, type NewPlant } from './shared';

const LIVING = 100;

export type PlantEvent =
  | { readonly type: 'PlantCreated'; readonly data: NewPlant }
  | { readonly type: 'PlantDeleted'; readonly data: { readonly id: number } };

/** From the command line. */
export const EVENTS = Number(process.argv[2]);

/** As many streams as have 400,000 events in total, so that memory is about the same; at most 20,000. */
export const STREAMS = Math.min(20_000, 400_000 / EVENTS);

/** Negative ids, because the benchmark creates positive ones. */
export function* history(): Generator<PlantEvent> {
  const living = Math.min(LIVING, EVENTS);
  let id = -1;
  for (let pairs = (EVENTS - living) / 2; pairs > 0; pairs--, id--) {
    yield { type: 'PlantCreated', data: { id, ...PLANT } };
    yield { type: 'PlantDeleted', data: { id } };
  }
  for (let left = living; left > 0; left--, id--) yield { type: 'PlantCreated', data: { id, ...PLANT } };
}

/** The projection of one user, built from the stream for every request. */
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
