import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { PlantEvent } from '../domain';
import { type EventStoreOptions, type OpenEventStore, StoreUnavailable } from '../event-sourcing';
import type { ModulePath } from './config';
import { ownFault, withOwnFaults } from './own-faults';

/** The module that EVENT_STORE names cannot be used. The message says which module and why. */
export class UnusableStoreModule extends Error {
  override readonly name = 'UnusableStoreModule';
}

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
  options: EventStoreOptions<PlantEvent>,
  limitMs = OPEN_MS,
): Promise<OpenEventStore<PlantEvent>> {
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

async function open(
  file: string,
  options: EventStoreOptions<PlantEvent>,
): Promise<OpenEventStore<PlantEvent>> {
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
  const events = withOwnFaults(opened as OpenEventStore<PlantEvent>);
  return { ...events, check: checked(events, file, options.report) };
}

/** The check of `events`, rejecting if it resolves with another value than its type says, which is reported once. */
function checked(
  events: OpenEventStore<PlantEvent>,
  file: string,
  report: EventStoreOptions<PlantEvent>['report'],
): OpenEventStore<PlantEvent>['check'] {
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

type OpenFunction = (options: EventStoreOptions<PlantEvent>) => unknown;

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
  throw new UnusableStoreModule(
    `${file}, which EVENT_STORE names, must export a function openEventStore; ` +
      `it exports ${Object.keys(exported).join(', ') || 'nothing'}`,
  );
}

/** The methods that `opened` does not have, as `store.append`. */
function missingMethods(opened: unknown): string[] {
  const members = membersOf(opened);
  /** A name with `?` may be absent, but not another value. */
  const missing = (owner: string, names: readonly string[], value = membersOf(members[owner])) =>
    names
      .map((name) => ({ name: name.replace('?', ''), optional: name.endsWith('?') }))
      .filter(({ name, optional }) => !(optional && value[name] === undefined))
      .filter(({ name }) => typeof value[name] !== 'function')
      .map(({ name }) => (owner === '' ? name : `${owner}.${name}`));
  const archives = members['archive'] !== undefined;
  return [
    ...missing('store', ['read', 'append', 'notify?']),
    ...missing('', ['check', 'close', 'mintCommit?', 'status?'], members),
    ...(members['catalogue'] === undefined ? [] : missing('catalogue', ['streams', 'find', 'erase'])),
    ...(members['snapshots'] === undefined && !archives
      ? []
      : missing('snapshots', ['load', 'save', archives ? 'loadBase' : 'loadBase?'])),
    ...(archives ? missing('archive', ['saveBase', 'trim', 'bytes']) : []),
  ];
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
