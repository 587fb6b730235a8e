import { setImmediate as turn } from 'node:timers/promises';
import { type Snapshot, type SnapshotStore, type StreamName, headOf } from '../../src/event-sourcing';
import { type Change, noted, remembering } from './simulated-place';
import type { Disk, DiskSnapshots } from './disk';

type Kept = Snapshot<readonly string[]>;

/** Changes snapshots before they are saved. */
function saving(change: (snapshot: Kept) => Kept): Change {
  return snapshotsOf((snapshots) => ({
    save: (stream, snapshot) => snapshots.save(stream, change({ ...snapshot, chunks: [...snapshot.chunks] })),
  }));
}

function snapshotsOf(change: (snapshots: DiskSnapshots, disk: Disk) => Partial<SnapshotStore>): Change {
  return (disk) => ({ snapshots: change(disk.snapshots, disk) });
}

/** Snapshots under another name. */
function naming(name: (stream: StreamName) => string): Change {
  const renamed = (stream: StreamName) => name(stream) as StreamName;
  return snapshotsOf((snapshots, disk) => ({
    load: (stream) => snapshots.load(renamed(stream)),
    async save(stream, snapshot) {
      const saved = await snapshots.save(stream, snapshot);
      const kept = snapshots.newest(stream);
      snapshots.kept.delete(stream);
      if (saved) snapshots.keep(renamed(stream), kept!);
      return saved && (await disk.find(stream)) !== undefined;
    },
  }));
}

/** Each violates one guarantee. */
export const BROKEN_SNAPSHOTS: Readonly<Record<string, Change>> = {
  'has an empty snapshot of each stream': snapshotsOf((snapshots, disk) => ({
    load: async (stream) =>
      (await snapshots.load(stream)) ??
      ((await disk.find(stream)) && {
        format: '',
        head: headOf({ version: 0, commit: '' }),
        chunks: noChunks(),
      }),
  })),
  'drops empty chunks': saving(({ chunks, ...rest }) => ({ ...rest, chunks: chunks.filter(Boolean) })),
  'joins chunks': saving(({ chunks, ...rest }) => ({ ...rest, chunks: [chunks.join('')] })),
  'cuts long chunks': saving(({ chunks, ...rest }) => ({
    ...rest,
    chunks: chunks.map((chunk) => chunk.slice(0, 65_535)),
  })),
  'cuts commit ids at 36 characters': snapshotsOf((snapshots) => ({
    async load(stream) {
      const stored = await snapshots.load(stream);
      return stored && { ...stored, head: { ...stored.head, commit: stored.head.commit.slice(0, 36) } };
    },
  })),
  'ignores case in names': naming((stream) => stream.toLowerCase()),
  'keeps a snapshot apart from its stream': naming((stream) => `snapshot of ${stream}`),

  'keeps the last chunks of the snapshot before': snapshotsOf((snapshots) => ({
    save(stream, snapshot) {
      const old = snapshots.newest(stream)?.chunks ?? [];
      const chunks = [...snapshot.chunks];
      return snapshots.save(stream, { ...snapshot, chunks: [...chunks, ...old.slice(chunks.length)] });
    },
  })),
  'keeps the first snapshot': remembering(({ snapshots }, seen) => ({
    snapshots: {
      save: async (stream, snapshot) => seen.has(stream) || snapshots.save(noted(seen, stream), snapshot),
    },
  })),
  'saves at any head': snapshotsOf((snapshots) => ({
    async save(stream, { chunks, ...snapshot }) {
      snapshots.keep(stream, { ...snapshot, chunks: [...chunks] });
      return true;
    },
  })),
  'writes over the snapshot, chunk by chunk': snapshotsOf((snapshots) => ({
    async save(stream, { chunks, ...snapshot }) {
      const kept: string[] = [];
      snapshots.keep(stream, { ...snapshot, chunks: kept });
      for (const chunk of chunks) {
        await turn();
        kept.push(chunk);
      }
      return true;
    },
  })),
  'reads each chunk of the newest snapshot': snapshotsOf((snapshots) => ({
    async load(stream) {
      const stored = await snapshots.load(stream);
      const chunks = (async function* () {
        for (let index = 0; ; index++) {
          const chunk = snapshots.newest(stream)?.chunks[index];
          if (chunk === undefined) return;
          yield chunk;
          await turn();
        }
      })();
      return stored && { ...stored, chunks };
    },
  })),
  'has one draft for all who save': snapshotsOf((snapshots, disk) => {
    const drafts = new Map<StreamName, string[]>();
    return {
      async save(stream, { chunks, ...snapshot }) {
        const draft = drafts.get(stream) ?? [];
        drafts.set(stream, draft);
        let index = 0;
        for (const chunk of chunks) {
          await turn();
          draft[index++] = chunk;
        }
        const whole = [...draft];
        drafts.delete(stream);
        if ((await disk.read(stream, snapshot.head)).status !== 'read') return false;
        snapshots.keep(stream, { ...snapshot, chunks: whole });
        return true;
      },
    };
  }),
  'looks for the head only before it writes': snapshotsOf((snapshots, disk) => ({
    async save(stream, { chunks, ...snapshot }) {
      if ((await disk.read(stream, snapshot.head)).status !== 'read') return false;
      const taken: string[] = [];
      for (const chunk of chunks) {
        await turn();
        taken.push(chunk);
      }
      snapshots.keep(stream, { ...snapshot, chunks: taken });
      return true;
    },
  })),
  'has only the snapshots that this instance saved': remembering(({ snapshots }, seen) => ({
    snapshots: {
      load: async (stream) => (seen.has(stream) ? snapshots.load(stream) : undefined),
      save: (stream, snapshot) => snapshots.save(noted(seen, stream), snapshot),
    },
  })),
};

async function* noChunks(): AsyncGenerator<string> {}
