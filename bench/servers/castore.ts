/** Castore with its in-memory storage adapter and the Koa stack: it reads the aggregate, then pushes the event. */
import { type EventDetail, EventStore, EventType } from '@castore/core';
import { InMemoryEventStorageAdapter } from '@castore/event-storage-adapter-in-memory';
import { EVENTS, type PlantEvent, Projection, STREAMS, history } from './history';
import { serveKoa } from './koa-app';
import type { NewPlant } from './shared';

const PlantCreated = new EventType<'PlantCreated', NewPlant>({ type: 'PlantCreated' });
const PlantDeleted = new EventType<'PlantDeleted', { id: number }>({ type: 'PlantDeleted' });

interface PlantsAggregate {
  aggregateId: string;
  version: number;
  projection: Projection;
}

const plants = new EventStore({
  eventStoreId: 'PLANTS',
  eventTypes: [PlantCreated, PlantDeleted],
  reducer: (aggregate: PlantsAggregate, { aggregateId, version, type, payload }): PlantsAggregate => ({
    aggregateId,
    version,
    // The aggregate is not shared: each request builds its own.
    projection: ((aggregate as PlantsAggregate | undefined)?.projection ?? new Projection()).with({
      type,
      data: payload,
    } as PlantEvent),
  }),
  eventStorageAdapter: new InMemoryEventStorageAdapter({ initialEvents: [...initialEvents()] }),
});
const aggregateOf = async (id: number) => (await plants.getExistingAggregate(String(id % STREAMS))).aggregate;
let turn = 0;

serveKoa({
  async list() {
    return (await aggregateOf(turn++)).projection.list();
  },
  async create(payload) {
    const aggregate = await aggregateOf(payload.id);
    if (aggregate.projection.plants.has(payload.id)) return false;
    const { aggregateId, version } = aggregate;
    await plants.pushEvent({ aggregateId, version: version + 1, type: 'PlantCreated', payload });
    return true;
  },
  async delete(id) {
    const aggregate = await aggregateOf(id);
    if (!aggregate.projection.plants.has(id)) return false;
    const { aggregateId, version } = aggregate;
    await plants.pushEvent({ aggregateId, version: version + 1, type: 'PlantDeleted', payload: { id } });
    return true;
  },
});

function* initialEvents(): Generator<EventDetail> {
  if (!(EVENTS > 0)) throw new Error('how many events are in a stream?');
  const timestamp = new Date().toISOString();
  for (let stream = 0; stream < STREAMS; stream++) {
    let version = 1;
    for (const { type, data } of history()) {
      yield { aggregateId: String(stream), version: version++, type, timestamp, payload: data };
    }
  }
}
