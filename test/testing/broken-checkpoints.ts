import { type CheckpointStore, type CheckpointWrite, partsOfKey } from '../../src/event-sourcing';
import type { Change } from './simulated-place';
import { DiskCheckpoints } from './disk';

/** The checkpoints of a disk, of which some methods are changed. */
function changing(change: (store: DiskCheckpoints, projection: string) => Partial<CheckpointStore>): Change {
  return (disk) => ({
    checkpoints(projection) {
      const store = disk.checkpoints(projection);
      return {
        load: (keys) => store.load(keys),
        keys: (prefix) => store.keys(prefix),
        save: (write) => store.save(write),
        ...change(store, projection),
      };
    },
  });
}

/** Changes each write. */
function writing(change: (write: CheckpointWrite, store: DiskCheckpoints) => CheckpointWrite): Change {
  return changing((store) => ({ save: async (write) => store.save(change(write, store)) }));
}

/** Each violates one guarantee. */
export const BROKEN_CHECKPOINTS: Readonly<Record<string, Change>> = {
  'loads values without those that are missing': changing((store) => ({
    load: (keys) => store.load(keys).filter((value) => value !== undefined),
  })),
  'ends keys at their first encoded NUL': writing((write) => ({
    ...write,
    values: new Map([...write.values].map(([key, value]) => [key.replace(/%00.*/, ''), value])),
  })),
  'lists the key of the bucket, too': changing((store) => ({
    keys: (prefix) => [...store.keys(prefix), prefix.slice(0, -1)],
  })),
  'accepts any expected value': writing((write, store) => ({
    ...write,
    expected: store.load([write.key])[0],
  })),
  'writes heads before it refuses': changing((store) => ({
    async save(write) {
      for (const [key, value] of write.values) if (key !== write.key) store.values.set(key, value!);
      return store.save(write);
    },
  })),
  'compares before it waits': changing((store) => ({
    async save(write) {
      const expected = store.load([write.key])[0] === write.expected;
      await Promise.resolve();
      return store.saveAny(expected ? { ...write, expected: store.load([write.key])[0] } : write);
    },
  })),
  'removes nothing': writing((write) => ({
    ...write,
    values: new Map([...write.values].filter(([, value]) => value !== undefined)),
  })),
  'has one checkpoint for all projections': (disk) => ({ checkpoints: () => disk.checkpoints('one') }),
  'has a checkpoint for each instance': (disk) => {
    const own = new Map<string, DiskCheckpoints>();
    return {
      checkpoints(projection) {
        const store = own.get(projection) ?? new DiskCheckpoints(disk);
        own.set(projection, store);
        return store;
      },
    };
  },
  'keeps the heads of erased streams': (disk) => ({
    catalogue: { erase: (stream) => disk.eraseEvents(stream) },
  }),
  'erases the whole bucket': (disk) => ({
    catalogue: {
      async erase(stream) {
        disk.eraseHeads(({ bucket }) => bucket === 0);
        return disk.erase(stream);
      },
    },
  }),
  'saves heads of erased streams': changing((store) => ({
    save: async (write) => store.saveAny(write),
  })),
  'saves heads of another history': changing((store) => ({
    async save(write) {
      for (const key of write.values.keys()) {
        const { stream } = partsOfKey(key);
        if (stream !== undefined && (await store.disk.find(stream)) === undefined) return store.save(write);
      }
      return store.saveAny(write);
    },
  })),
};
