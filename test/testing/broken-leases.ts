import { MemoryLeases } from '../../src/adapters/memory';
import type { LeaseStore } from '../../src/event-sourcing';
import type { Change } from './simulated-place';

function changing(change: (leases: LeaseStore) => Partial<LeaseStore>): Change {
  return (disk) => ({ leases: change(disk.leases) });
}

/** Each violates one guarantee. */
export const BROKEN_LEASES: Readonly<Record<string, Change>> = {
  'ends texts at their first NUL': changing((leases) => ({
    save: (name, expected, text) => leases.save(name, expected, text?.replace(/\0[^]*/, '')),
  })),
  'removes no text': changing((leases) => ({
    save: (name, expected, text) => leases.save(name, expected, text ?? expected),
  })),
  'accepts any expected text': changing((leases) => ({
    save: async (name, _, text) => leases.save(name, (await leases.load(name)).text, text),
  })),
  'compares before it waits': changing((leases) => ({
    async save(name, expected, text) {
      if ((await leases.load(name)).text !== expected) return false;
      while (!(await leases.save(name, (await leases.load(name)).text, text))) continue;
      return true;
    },
  })),
  'has one text for all projections': changing((leases) => ({
    load: () => leases.load('one'),
    save: (_, expected, text) => leases.save('one', expected, text),
  })),
  'lists projections whose text was removed': (disk) => {
    const names = new Set<string>();
    return {
      leases: {
        save: (name, ...texts) => {
          names.add(name);
          return disk.leases.save(name, ...texts);
        },
        projections: async () => [...names],
      },
    };
  },
  'has a clock that stands still': changing((leases) => ({
    load: async (name) => ({ ...(await leases.load(name)), now: 0 }),
  })),
  'has a clock in seconds': changing((leases) => ({
    async load(name) {
      const { text, now } = await leases.load(name);
      return { text, now: now / 1000 };
    },
  })),
  'has the clock of its instance': (disk) => {
    const opened = performance.now();
    return {
      leases: {
        load: async (name) => ({ ...(await disk.leases.load(name)), now: performance.now() - opened }),
      },
    };
  },
  'has leases for each instance': () => {
    const own = new MemoryLeases();
    return {
      leases: {
        load: (name) => own.load(name),
        save: (...args) => own.save(...args),
        projections: () => own.projections(),
      },
    };
  },
};
