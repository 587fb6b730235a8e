/**
 * Emmett with its in-memory event store and the Koa stack: its command
 * handler reads the stream, decides, and appends. Each stream has its own
 * store, because an append to this store counts the events of all its streams.
 */
import { CommandHandler, IllegalStateError, getInMemoryEventStore } from '@event-driven-io/emmett';
import { EVENTS, type PlantEvent, Projection, STREAMS, history } from './history';
import { serveKoa } from './koa-app';

const STREAM = 'plants';
const projecting = {
  initialState: () => new Projection(),
  evolve: (projection: Projection, event: PlantEvent) => projection.with(event),
};

async function main(): Promise<void> {
  const stores = Array.from({ length: STREAMS }, () => getInMemoryEventStore());
  for (const store of stores) await store.appendToStream<PlantEvent>(STREAM, [...history()]);
  const handle = CommandHandler<Projection, PlantEvent>(projecting);
  const storeOf = (id: number) => stores[id % STREAMS]!;
  let turn = 0;

  serveKoa({
    async list() {
      const { state } = await storeOf(turn++).aggregateStream<Projection, PlantEvent>(STREAM, projecting);
      return state.list();
    },
    create: (plant) =>
      accepted(
        handle(storeOf(plant.id), STREAM, ({ plants }) => {
          if (plants.has(plant.id)) throw new IllegalStateError('the id is taken');
          return { type: 'PlantCreated', data: plant };
        }),
      ),
    delete: (id) =>
      accepted(
        handle(storeOf(id), STREAM, ({ plants }) => {
          if (!plants.has(id)) throw new IllegalStateError('no such plant');
          return { type: 'PlantDeleted', data: { id } };
        }),
      ),
  });
}

async function accepted(handled: Promise<unknown>): Promise<boolean> {
  try {
    await handled;
    return true;
  } catch (error) {
    if (error instanceof IllegalStateError) return false;
    throw error;
  }
}

if (!(EVENTS > 0)) throw new Error('how many events are in a stream?');
void main();
