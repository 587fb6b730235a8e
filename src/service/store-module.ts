import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  type EventStore,
  type EventStoreOptions,
  type Feed,
  type LeaseStore,
  type OpenEventStore,
  type SnapshotStore,
  StoreUnavailable,
  type StreamArchive,
  type StreamCatalogue,
} from '../event-sourcing';
import type { ModulePath } from './config';
import { ownFault, withOwnFaults } from './own-faults';

/** The module that EVENT_STORE names cannot be used. The message says which module and why. */
export class UnusableStoreModule extends Error {}

/** Time limit of loading the module and opening its store: a store may have to create its tables. */
const OPEN_MS = 30_000;

/**
 * Opens the event store of the module at `path`, which exports `openEventStore(options)`.
 *
 * Rejects with {@link UnusableStoreModule} if there is no such module or function, if the function does not return
 * a store, or if all this takes longer than `limitMs`; with `StoreUnavailable` if the function does.
 */
export function openStoreModule(
  path: ModulePath,
  options: EventStoreOptions,
  limitMs = OPEN_MS,
): Promise<OpenEventStore> {
  const file = resolve(path);
  return within(limitMs, `openEventStore of ${file} did not return`, open(file, options));
}

/** Loads the module at `path`, and opens nothing. Rejects with {@link UnusableStoreModule}, as for opening its store. */
export async function checkStoreModule(path: ModulePath, limitMs = OPEN_MS): Promise<void> {
  const file = resolve(path);
  await within(limitMs, `${file}, which EVENT_STORE names, was not loaded`, openFunctionOf(file));
}

function within<T>(limitMs: number, failure: string, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    // Keeps the process alive: without it, a promise that is never settled would end the process with exit code 0.
    const limit = setTimeout(
      () => reject(new UnusableStoreModule(`${failure} within ${limitMs} ms`)),
      limitMs,
    );
    work.then(resolve, reject).finally(() => clearTimeout(limit));
  });
}

async function open(file: string, options: EventStoreOptions): Promise<OpenEventStore> {
  const openEventStore = await openFunctionOf(file);
  let opened: unknown;
  try {
    opened = await openEventStore(options);
  } catch (error) {
    const fault = ownFault(error);
    if (fault instanceof StoreUnavailable) throw fault;
    throw new UnusableStoreModule(`openEventStore of ${file} failed: ${messageOf(error)}`, { cause: error });
  }
  const missing = missingMethods(opened);
  if (missing.length > 0)
    throw new UnusableStoreModule(
      `openEventStore of ${file} must return an OpenEventStore; without these methods it is none: ${missing.join(', ')}`,
    );
  const events = withOwnFaults(opened as OpenEventStore);
  return { ...events, check: checked(events, file, options.report) };
}

/** The check of `events`, rejecting if it resolves with another value than its type says, which is reported once. */
function checked(
  events: OpenEventStore,
  file: string,
  report: EventStoreOptions['report'],
): OpenEventStore['check'] {
  let isReported = false;
  return async () => {
    const checked: unknown = await events.check();
    const { writes } = membersOf(checked);
    if (typeof writes === 'boolean') return { writes };
    const problem = `check() of ${file} must resolve with { writes: boolean }; the service is not ready`;
    if (!isReported) report?.('error', problem);
    isReported = true;
    throw new TypeError(problem);
  };
}

type OpenFunction = (options: EventStoreOptions) => unknown;

async function openFunctionOf(file: string): Promise<OpenFunction> {
  if (!existsSync(file))
    throw new UnusableStoreModule(`EVENT_STORE names ${file}, and there is no such file`);
  const exported = await import(pathToFileURL(file).href).then(membersOf, (error: unknown) => {
    throw new UnusableStoreModule(`${file}, which EVENT_STORE names, cannot be loaded: ${messageOf(error)}`, {
      cause: error,
    });
  });
  // Node may find the exports of a CommonJS module only under `default`.
  const openEventStore = exported['openEventStore'] ?? membersOf(exported['default'])['openEventStore'];
  if (typeof openEventStore === 'function') return openEventStore as OpenFunction;
  // Newer versions of Node export the whole of a CommonJS module under this name too.
  const names = Object.keys(exported).filter((name) => name !== 'module.exports');
  throw new UnusableStoreModule(
    `${file}, which EVENT_STORE names, must export a function openEventStore; ` +
      `it exports ${names.join(', ') || 'nothing'}`,
  );
}

/** Whether each method of a port must be there. The compiler names one that is missing here. */
type Methods<Port> = { readonly [Name in keyof Required<Port>]: 'required' | 'optional' };

const STORE: Methods<EventStore> = { read: 'required', append: 'required', notify: 'optional' };
const CATALOGUE: Methods<StreamCatalogue> = { streams: 'required', find: 'required', erase: 'required' };
const ARCHIVE: Methods<StreamArchive> = { saveBase: 'required', trim: 'required', bytes: 'required' };
const SNAPSHOTS: Methods<SnapshotStore> = { load: 'required', save: 'required', loadBase: 'optional' };
const FEED: Methods<Omit<Feed, 'buckets'>> = {
  bucketOf: 'required',
  read: 'required',
  end: 'required',
  notify: 'optional',
};
const LEASES: Methods<LeaseStore> = { load: 'required', save: 'required', projections: 'required' };
const OPENED: Methods<
  Omit<OpenEventStore, 'store' | 'catalogue' | 'snapshots' | 'archive' | 'feed' | 'leases'>
> = {
  check: 'required',
  close: 'required',
  mintCommit: 'optional',
  status: 'optional',
  checkpoints: 'optional',
};

/** The methods that `opened` does not have, as `store.append`; also the number of its buckets. */
function missingMethods(opened: unknown): string[] {
  const { store, catalogue, snapshots, archive, feed, leases } = membersOf(opened);
  const missing = (methods: Readonly<Record<string, string>>, owner: string, value: unknown) =>
    Object.entries(methods)
      .map(([name, need]) => ({ name, need, member: membersOf(value)[name] }))
      .filter(({ need, member }) => need === 'required' || member !== undefined)
      .filter(({ member }) => typeof member !== 'function')
      .map(({ name }) => `${owner}${name}`);
  const { buckets } = membersOf(feed);
  const hasBuckets = Number.isSafeInteger(buckets) && (buckets as number) > 0;
  const archives = archive !== undefined;
  return [
    ...missing(STORE, 'store.', store),
    ...missing(OPENED, '', opened),
    ...(catalogue === undefined ? [] : missing(CATALOGUE, 'catalogue.', catalogue)),
    ...(snapshots === undefined && !archives
      ? []
      : missing({ ...SNAPSHOTS, ...(archives && { loadBase: 'required' }) }, 'snapshots.', snapshots)),
    ...(archives ? missing(ARCHIVE, 'archive.', archive) : []),
    ...(feed === undefined ? [] : missing(FEED, 'feed.', feed)),
    ...(leases === undefined ? [] : missing(LEASES, 'leases.', leases)),
    ...(feed === undefined || hasBuckets ? [] : ['feed.buckets']),
  ];
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
