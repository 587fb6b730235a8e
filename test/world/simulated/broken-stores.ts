import type { PlantEvent } from '../../../src/domain';
import { type EventStore, OutcomeUnknown, StoreUnavailable } from '../../../src/event-sourcing';

/**
 * Stores that each violate one guarantee of the port. The simulator must
 * detect every one of them; otherwise its success would be meaningless.
 */
export const BROKEN_STORES: Readonly<
  Record<string, (store: EventStore<PlantEvent>) => EventStore<PlantEvent>>
> = {
  'returns no newer events without reading': (store) => ({
    read: async () => ({ status: 'read', events: [], more: false }),
    append: store.append.bind(store),
  }),

  'reads from a replica that lacks the last event': (store) => ({
    async read(stream, after) {
      const result = await store.read(stream, after);
      return result.status === 'read'
        ? { ...result, events: result.events.slice(0, -1), more: false }
        : result;
    },
    append: store.append.bind(store),
  }),

  'does not recognize an append that it has recorded': (store) => {
    let commits = 0;
    return {
      read: store.read.bind(store),
      append: (stream, expected, commit, events) =>
        store.append(stream, expected, `${commit}, sent ${++commits} times`, events),
    };
  },

  'ignores the expected version': (store) => ({
    read: store.read.bind(store),
    async append(stream, expected, commit, events) {
      const result = await store.append(stream, expected, commit, events);
      const last = result.status === 'conflict' ? result.events.at(-1) : undefined;
      return last === undefined ? result : store.append(stream, last, commit, events);
    },
  }),

  'reports a lost reply as unavailable': (store) => ({
    read: store.read.bind(store),
    append: (stream, expected, commit, events) =>
      store.append(stream, expected, commit, events).catch((error: unknown) => {
        throw error instanceof OutcomeUnknown ? new StoreUnavailable(error.message) : error;
      }),
  }),
};
