import {
  BEGINNING,
  type CataloguedStream,
  type Head,
  StoreUnavailable,
  type StreamName,
} from '../../src/event-sourcing';
import { type Change, noted, remembering } from './simulated-place';
import type { Disk } from './disk';

/** A catalogue that lists and finds other streams. */
function cataloguing(
  list: (all: readonly CataloguedStream[], disk: Disk) => readonly CataloguedStream[],
): Change {
  return (disk) => {
    const listed = async () => list(await allOf(disk), disk);
    return {
      catalogue: {
        async *streams() {
          yield* await listed();
        },
        find: async (stream) => (await listed()).find((one) => one.stream === stream),
      },
    };
  };
}

async function allOf(disk: Disk): Promise<CataloguedStream[]> {
  const all: CataloguedStream[] = [];
  for await (const one of disk.streams()) all.push(one);
  return all;
}

/** A catalogue that also erases the streams with another name. */
function erasing(isErased: (one: StreamName, erased: StreamName) => boolean): Change {
  return (disk) => ({
    catalogue: {
      async erase(stream) {
        const events = await disk.erase(stream);
        for (const one of await allOf(disk)) if (isErased(one.stream, stream)) await disk.erase(one.stream);
        return events;
      },
    },
  });
}

/** Each violates one guarantee. */
export const BROKEN_CATALOGUES: Readonly<Record<string, Change>> = {
  'lists and finds only its first 1,000 streams': cataloguing((all) => all.slice(0, 1000)),
  'lists a stream once for each event': cataloguing((all) =>
    all.flatMap((one) => Array.from({ length: one.version }, () => one)),
  ),
  'ends names at their first NUL': cataloguing((all) =>
    all.map(({ stream, version }) => ({ stream: stream.replace(/\0[^]*/, '') as StreamName, version })),
  ),
  'lists streams page by page from an offset': (disk) => ({
    catalogue: {
      async *streams() {
        for (let offset = 0, length = 1; offset < length; offset += 1000) {
          const all = await allOf(disk);
          ({ length } = all);
          yield* all.slice(offset, offset + 1000);
        }
      },
    },
  }),
  'lists the version of the first append': (disk) => {
    const versions = new Map<StreamName, number>();
    return {
      store: {
        async append(stream, expected, commit, events) {
          if (!versions.has(stream)) versions.set(stream, events.length);
          return disk.append(stream, expected, commit, events);
        },
      },
      catalogue: {
        find: async (stream) => (await disk.find(stream)) && { stream, version: versions.get(stream) ?? 1 },
      },
    };
  },
  'lists streams that were only read': remembering((disk, seen) => ({
    store: { read: (stream, after) => disk.read(noted(seen, stream), after) },
    catalogue: {
      find: async (stream) =>
        (await disk.find(stream)) ?? (seen.has(stream) ? { stream, version: 0 } : undefined),
    },
  })),
  'lists only the streams to which this instance appended': remembering((disk, seen) => ({
    store: { append: (stream, ...rest) => disk.append(noted(seen, stream), ...rest) },
    catalogue: { find: async (stream) => (seen.has(stream) ? disk.find(stream) : undefined) },
  })),
  'finds streams that do not exist': (disk) => ({
    catalogue: { find: async (stream) => (await disk.find(stream)) ?? { stream, version: 0 } },
  }),

  'erases nothing': (disk) => ({
    catalogue: { erase: async (stream) => (await disk.find(stream))?.version ?? 0 },
  }),
  'returns the number of erased streams': (disk) => ({
    catalogue: { erase: async (stream) => Math.min(1, await disk.erase(stream)) },
  }),
  'erases the streams with the same beginning': erasing((one, erased) => one.startsWith(erased)),
  'erases streams of any case': erasing((one, erased) => one.toLowerCase() === erased.toLowerCase()),
  'fails to erase a stream that does not exist': (disk) => ({
    catalogue: {
      async erase(stream) {
        if ((await disk.find(stream)) === undefined) throw new StoreUnavailable('no such stream');
        return disk.erase(stream);
      },
    },
  }),
  'takes the heads of an erased stream for those of an empty one': remembering((disk, seen) => ({
    store: {
      async read(stream, after) {
        const result = await disk.read(stream, after);
        return result.status === 'reset' && seen.has(stream) ? disk.read(stream, BEGINNING) : result;
      },
    },
    catalogue: { erase: (stream) => disk.erase(noted(seen, stream)) },
  })),
  'knows the commits of erased streams': (disk) => {
    const heads = new Map<string, Head>();
    return {
      store: {
        async append(stream, expected, commit, events) {
          const head = heads.get(`${stream} ${commit}`);
          if (head !== undefined) return { status: 'appended', head };
          const result = await disk.append(stream, expected, commit, events);
          if (result.status === 'appended') heads.set(`${stream} ${commit}`, result.head);
          return result;
        },
      },
    };
  },
};
