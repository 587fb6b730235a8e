/** Plant events to test with. */
import { plantCodec } from '../../src/application';
import {
  type Plant,
  type PlantCreated,
  type PlantDeleted,
  type PlantEvent,
  type PlantId,
  parsePlantId,
} from '../../src/domain';
import {
  type EncodedEvent,
  type RecordedEvent,
  type StoredEvent,
  decodeEvent,
} from '../../src/event-sourcing';

export const MIN_INT64 = -(2n ** 63n);
export const MAX_INT64 = 2n ** 63n - 1n;

export function plantId(id: number | bigint | string): PlantId {
  const parsed = parsePlantId(String(id));
  if (parsed === undefined) throw new RangeError(`${id} is no plant id`);
  return parsed;
}

export function plant(name: string, tag?: string): Plant {
  return tag === undefined ? { name } : { name, tag };
}

export function created(id: number | PlantId, name: string, tag?: string): PlantCreated {
  return { type: 'PlantCreated', id: plantId(id), plant: plant(name, tag) };
}

export function deleted(id: number | PlantId): PlantDeleted {
  return { type: 'PlantDeleted', id: plantId(id) };
}

export function ferns(count: number): PlantCreated[] {
  return Array.from({ length: count }, (_, index) => created(index, `Fern ${index}`));
}

const PLANT_EVENTS = new WeakMap<StoredEvent, PlantEvent>();

/** The event that is stored. Decoded once. */
export function plantEventOf(stored: StoredEvent): PlantEvent {
  const event = PLANT_EVENTS.get(stored) ?? decodeEvent(plantCodec, stored);
  PLANT_EVENTS.set(stored, event);
  return event;
}

export function decoded(events: readonly StoredEvent[]): RecordedEvent<PlantEvent>[] {
  return events.map((stored) => ({ ...stored, event: plantEventOf(stored) }));
}

/** The events as a store has them. */
export function encoded(...events: readonly PlantEvent[]): EncodedEvent[] {
  return events.map((event) => plantCodec.encode(event));
}
