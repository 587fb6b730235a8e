import { type EventStore, OutcomeUnknown, StoreUnavailable } from '../../src/application';

/**
 * Stores, as an instance sees them, each with one of the port's promises
 * broken. Whoever checks consistency must find every one of them out, or his
 * "no promise was broken" means nothing.
 */
export const BROKEN: Readonly<Record<string, (store: EventStore) => EventStore>> = {
  'says that nothing is newer, without looking': (store) => ({
    read: async () => ({ status: 'read', events: [], more: false }),
    append: store.append.bind(store),
  }),

  'reads from a replica that is one event behind': (store) => ({
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

  'appends behind whatever there is': (store) => ({
    read: store.read.bind(store),
    async append(stream, expected, commit, events) {
      const result = await store.append(stream, expected, commit, events);
      const last = result.status === 'conflict' ? result.events.at(-1) : undefined;
      return last === undefined ? result : store.append(stream, last, commit, events);
    },
  }),

  'calls a lost reply "unavailable"': (store) => ({
    read: store.read.bind(store),
    append: (stream, expected, commit, events) =>
      store.append(stream, expected, commit, events).catch((error: unknown) => {
        throw error instanceof OutcomeUnknown ? new StoreUnavailable(error.message) : error;
      }),
  }),
};
