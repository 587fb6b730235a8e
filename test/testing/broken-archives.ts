import type { Base, StreamArchive, StreamName } from '../../src/event-sourcing';
import { type Change, noted, remembering } from './simulated-place';
import type { Disk } from './disk';

type SaveArguments = Parameters<StreamArchive['saveBase']>;

function savingBases(saveBase: (disk: Disk, ...args: SaveArguments) => Promise<boolean>): Change {
  return (disk) => ({ archive: { saveBase: (...args) => saveBase(disk, ...args) } });
}

/** Makes a base current without any comparison. */
function replace(disk: Disk, stream: StreamName, base: Base): true {
  disk.snapshots.bases.set(stream, { ...base, chunks: [...base.chunks] });
  return true;
}

/** Each violates one guarantee. */
export const BROKEN_ARCHIVES: Readonly<Record<string, Change>> = {
  'keeps 100 characters of a seal': savingBases((disk, stream, base, ...rest) =>
    disk.saveBase(stream, { ...base, archive: base.archive.slice(0, 100) }, ...rest),
  ),
  'checks the base that it was given': savingBases((disk, stream, base, replaced, check) =>
    disk.saveBase(stream, { ...base, chunks: [...base.chunks].slice(0, 1) }, replaced, (stored) =>
      check({ ...stored, chunks: disk.snapshots.read({ ...base, chunks: [...base.chunks] }) }),
    ),
  ),
  'checks a base once it is current': savingBases(async (disk, stream, base, replaced, check) => {
    const chunks = [...base.chunks];
    const saved = await disk.saveBase(stream, { ...base, chunks }, replaced, async () => {});
    if (saved) await check({ ...base, chunks: disk.snapshots.read({ ...base, chunks }) });
    return saved;
  }),
  'saves a base whose check fails': savingBases((disk, stream, base, replaced, check) => {
    let failure: unknown;
    const checked = async (stored: Parameters<typeof check>[0]) =>
      check(stored)
        .catch((error: unknown) => (failure = error))
        .then(() => {});
    return disk.saveBase(stream, base, replaced, checked).then((saved) => {
      if (failure !== undefined) throw failure as Error;
      return saved;
    });
  }),
  'saves a base at any head': savingBases(async (disk, stream, base, replaced, check) => {
    const has = (await disk.read(stream, base.head)).status === 'read';
    return has ? disk.saveBase(stream, base, replaced, check) : replace(disk, stream, base);
  }),
  'replaces any base': savingBases(async (disk, stream, base, _replaced, check) =>
    disk.saveBase(stream, base, disk.snapshots.bases.get(stream)?.head.version ?? 0, check),
  ),
  'saves the base whose check ends last': savingBases(async (disk, stream, base, replaced, check) => {
    const chunks = [...base.chunks];
    const erased = disk.snapshots.bases.get(stream)?.head.version ?? 0;
    if (erased !== replaced || (await disk.read(stream, base.head)).status !== 'read') return false;
    await check({ ...base, chunks: disk.snapshots.read({ ...base, chunks }) });
    return replace(disk, stream, { ...base, chunks });
  }),
  'saves the base of another call, though that one failed': (disk) => {
    const drafts = new Map<StreamName, Base>();
    return savingBases(async (_disk, stream, base, replaced, check) => {
      const isValid = async () =>
        (disk.snapshots.bases.get(stream)?.head.version ?? 0) === replaced &&
        (await disk.read(stream, base.head)).status === 'read';
      const draft = { ...base, chunks: [...base.chunks] };
      drafts.set(stream, draft);
      if (!(await isValid())) return false;
      await check({ ...draft, chunks: disk.snapshots.read(draft) });
      return (await isValid()) && replace(disk, stream, drafts.get(stream)!);
    })(disk);
  },
  'removes no events': () => ({ archive: { trim: async () => 0 } }),
  'removes one event again and again': () => ({ archive: { trim: async () => 1 } }),
  'removes the event of the head, too': (disk) => ({
    archive: {
      async trim(stream, head) {
        const events = await disk.trim(stream, head);
        await disk.loseEvents(stream);
        return events;
      },
    },
  }),
  'returns the version of the base for the events': (disk) => ({
    archive: {
      async trim(stream, head) {
        const events = await disk.trim(stream, head);
        return events === 0 ? 0 : events && head.version;
      },
    },
  }),
  'removes events before any head': (disk) => ({
    archive: { trim: async (stream, head) => (await disk.trim(stream, head)) ?? 0 },
  }),
  'archives a stream once': remembering((disk, seen) => ({
    archive: {
      saveBase: async (stream, ...rest) =>
        !seen.has(stream) && (await disk.saveBase(stream, ...rest)) && noted(seen, stream) !== '',
    },
  })),
  'reports a size of 0': () => ({ archive: { bytes: async () => 0 } }),
  'erases events, and leaves the base': (disk) => ({
    catalogue: {
      async erase(stream) {
        const base = disk.snapshots.bases.get(stream);
        const events = await disk.erase(stream);
        if (base) disk.snapshots.bases.set(stream, base);
        return events;
      },
    },
  }),
  'has only the bases that this instance saved': remembering((disk, seen) => ({
    snapshots: {
      loadBase: async (stream) => (seen.has(stream) ? disk.snapshots.loadBase(stream) : undefined),
    },
    archive: { saveBase: (stream, ...rest) => disk.saveBase(noted(seen, stream), ...rest) },
  })),
};
