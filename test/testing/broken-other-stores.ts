import { setImmediate as turn } from 'node:timers/promises';
import type { MemoryCheckpoints } from '../../src/adapters/memory';
import {
  type ChangesResult,
  type CheckpointStore,
  type CheckpointWrite,
  START,
  type SnapshotStore,
  type StreamIndex,
} from '../../src/event-sourcing';
import { type Faults, alwaysUnknown, neverUnknown } from './broken-event-stores';
import { type Fault, Place, PlaceSnapshots } from './place';

type Read = Extract<ChangesResult, { readonly status: 'read' }>;

const indexing =
  (change: (place: Place) => Partial<StreamIndex>): Fault =>
  (place) => ({ index: change(place) });

/** Changes members of each page. */
const paging = (change: (page: Read) => Partial<Read>): Fault =>
  indexing(({ events }) => ({
    async changed(...args) {
      const page = await events.changed(...args);
      return page.status === 'read' ? { ...page, ...change(page) } : page;
    },
  }));

async function epochOf({ events }: Place): Promise<string> {
  return ((await events.changed(0, START, 1)) as Read).next.epoch;
}

const erasingNothing = indexing(({ events }) => ({
  erase: async (stream) => (await events.head(stream))?.version ?? 0,
}));
const answeringWhenClosed: Fault = () => ({ closed: (call) => call() });

const apart: Fault = () => {
  const { events } = new Place();
  return { store: events, index: events };
};

export const BROKEN_INDEXES: Faults = {
  'an index has every stream / ignores the limit': indexing(({ events }) => ({
    changed: (bucket, position) => events.changed(bucket, position, Infinity),
  })),
  'an index does not have a stream that was only read / has a head of each': indexing(({ events }) => ({
    head: async (stream) => (await events.head(stream)) ?? { version: 0, commit: '' },
  })),
  'an index has the streams in the order / returns to the position before the page': paging((page) => ({
    next: { ...page.next, sequence: page.next.sequence - 1 },
  })),
  'concurrently: every append is seen after it / skips the first of several changes': paging((page) => ({
    changed: page.changed.slice(page.changed.length > 1 ? 1 : 0),
  })),
  'an index begins at START / begins at any sequence number without an epoch': indexing((place) => ({
    async changed(bucket, { epoch, sequence }, limit) {
      return place.events.changed(bucket, { epoch: epoch || (await epochOf(place)), sequence }, limit);
    },
  })),
  'an index also has some of the newest streams / has none of them': paging(() => ({ newest: [] })),
  'an index notifies after an append / notifies when it is cancelled': indexing(({ events }) => ({
    notify(changed) {
      const cancel = events.notify(changed);
      return () => {
        cancel();
        changed(0);
      };
    },
  })),
  'an erasure begins another epoch / keeps its epoch when it erases': indexing((place) => ({
    async changed(bucket, position, limit) {
      const epoch = position.epoch === 'one' ? await epochOf(place) : position.epoch;
      const page = await place.events.changed(bucket, { ...position, epoch }, limit);
      return page.status === 'reset' ? page : { ...page, next: { ...page.next, epoch: 'one' } };
    },
  })),
  'an erasure removes all events of its stream only / erases nothing': erasingNothing,
  'an erasure makes every head of the stream unknown / erases nothing': erasingNothing,
  'an erasure lets the stream start again / erases nothing': erasingNothing,
  'a reopened store has the index of before / is not durable': apart,
  'two stores on one place have one index / has a place of its own': apart,
  'a lost reply to an erasure is an OutcomeUnknown / reports a lost reply as unavailable': neverUnknown,
  'a closed store is unavailable to its index / answers after it was closed': answeringWhenClosed,
};

const keeping =
  (change: (snapshots: PlaceSnapshots) => Partial<SnapshotStore>): Fault =>
  (place) => ({ snapshots: change(place.snapshots) });

/** Changes snapshots before they are saved. */
const saving = (change: (chunks: string[], before: readonly string[]) => string[]): Fault =>
  keeping((snapshots) => ({
    save: (stream, { chunks, ...rest }) => {
      const changed = change([...chunks], snapshots.kept.get(stream)?.chunks ?? []);
      return snapshots.save(stream, { ...rest, chunks: changed });
    },
  }));

/** Writes chunk by chunk over the snapshot, whether or not the stream has its head. */
const writingOver = keeping((snapshots) => ({
  async save(stream, { chunks, ...snapshot }) {
    const kept: string[] = [];
    snapshots.kept.set(stream, { ...snapshot, chunks: kept });
    for (const chunk of chunks) {
      await turn();
      kept.push(chunk);
    }
    return true;
  },
}));

const readingTheNewest = keeping((snapshots) => ({
  async load(stream) {
    const stored = await snapshots.load(stream);
    const chunks = (async function* () {
      for (const index of [0, 1]) yield snapshots.kept.get(stream)!.chunks[index]!;
    })();
    return stored && { ...stored, chunks };
  },
}));

const ownSnapshots: Fault = ({ events }) => ({ snapshots: new PlaceSnapshots(events) });

export const BROKEN_SNAPSHOTS: Faults = {
  'a snapshot is missing, and then loaded as it was saved / cuts long chunks': saving((chunks) =>
    chunks.map((chunk) => chunk.slice(0, 65_535)),
  ),
  'a snapshot is that of its stream only / has the newest snapshot of any stream': keeping((snapshots) => ({
    load: (stream) => snapshots.load([...snapshots.kept.keys()].at(-1) ?? stream),
  })),
  'a snapshot that is replaced while it is read / reads chunks of the newest one': readingTheNewest,
  'a saved snapshot replaces the one before it completely / keeps the last chunks of the snapshot before':
    saving((chunks, before) => [...chunks, ...before.slice(chunks.length)]),
  'at a head that the stream does not have / does not look for the head': writingOver,
  'a snapshot whose last chunks fail / writes over the snapshot, chunk by chunk': writingOver,
  'of snapshots that are saved at a time / writes over the snapshot, chunk by chunk': writingOver,
  'a snapshot is erased with its stream, also while it is saved / does not look for the head': writingOver,
  'a snapshot is erased with its stream, also while it is saved / keeps it apart from its stream': indexing(
    ({ events }) => ({ erase: (stream) => events.erase(stream) }),
  ),
  'a damaged snapshot is broken / has no checksum': keeping((snapshots) => ({
    load: (stream) => (snapshots.damaged.clear(), snapshots.load(stream)),
  })),
  'a reopened store has the snapshot of before / has only its own snapshots': ownSnapshots,
  'one loads the snapshot that the other saved last / has only its own snapshots': ownSnapshots,
  'a lost reply to a save is a StoreUnavailable / reports a lost reply as unknown': alwaysUnknown,
  'a lost reply to a load is a StoreUnavailable / reports a lost reply as unknown': alwaysUnknown,
  'a closed store neither loads nor saves / answers after it was closed': answeringWhenClosed,
};

const pointing =
  (change: (store: MemoryCheckpoints) => Partial<CheckpointStore>): Fault =>
  (place) => ({ checkpoints: (projection) => change(place.checkpoints(projection)) });

/** Changes each write. */
const writing = (
  change: (write: CheckpointWrite, current: string | undefined) => Partial<CheckpointWrite>,
): Fault =>
  pointing((store) => ({
    save: async (write) => store.save({ ...write, ...change(write, store.load([write.key])[0]) }),
  }));

const ownCheckpoints: Fault = () => {
  const place = new Place();
  return { checkpoints: (projection) => place.checkpoints(projection) };
};

export const BROKEN_CHECKPOINTS: Faults = {
  'a checkpoint has no value until one is saved / loads no missing values': pointing((store) => ({
    load: (keys) => store.load(keys).filter((value) => value !== undefined),
  })),
  'a checkpoint has streams with any name and commit id / ends keys at a NUL': writing(({ values }) => ({
    values: new Map([...values].map(([key, value]) => [key.replace(/%00.*/, ''), value])),
  })),
  'a checkpoint refuses a write that expects another value / accepts any expected value': writing(
    (_, expected) => ({ expected }),
  ),
  'of writes at a time that expect one value / compares before it waits': pointing((store) => ({
    async save(write) {
      const isExpected = store.load([write.key])[0] === write.expected;
      await turn();
      return store.save(isExpected ? { ...write, expected: store.load([write.key])[0] } : write);
    },
  })),
  'a checkpoint removes keys without a value / removes nothing': writing(({ values }) => ({
    values: new Map([...values].filter(([, value]) => value !== undefined)),
  })),
  'a closed store neither loads nor saves / answers after it was closed': answeringWhenClosed,
  'a reopened store has the checkpoint of before / is not durable': ownCheckpoints,
  'two stores on one place have one checkpoint / has a checkpoint for each instance': ownCheckpoints,
  'a lost reply to a save is an OutcomeUnknown / reports a lost reply as unavailable': neverUnknown,
};
