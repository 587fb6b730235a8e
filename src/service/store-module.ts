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

/**
 * Opens the event store of the module at `path`, which exports `openEventStore(options)`.
 *
 * Rejects with {@link UnusableStoreModule} if there is no such module or function, or if the function does not return
 * a store; with `StoreUnavailable` if the function does.
 */
export async function openStoreModule(
  path: ModulePath,
  options: EventStoreOptions<PlantEvent>,
): Promise<OpenEventStore<PlantEvent>> {
  const file = resolve(path);
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
  return withOwnFaults(opened as OpenEventStore<PlantEvent>);
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
  const missing = (owner: string, names: readonly string[]) =>
    names
      .filter((name) => typeof membersOf(members[owner])[name] !== 'function')
      .map((name) => `${owner}.${name}`);
  return [
    ...missing('store', ['read', 'append']),
    ...['check', 'close'].filter((name) => typeof members[name] !== 'function'),
    ...(members['catalogue'] === undefined ? [] : missing('catalogue', ['streams', 'find', 'erase'])),
    ...(members['snapshots'] === undefined ? [] : missing('snapshots', ['load', 'save'])),
    ...(members['archive'] === undefined ? [] : missing('archive', ['saveBase', 'trim', 'bytes'])),
  ];
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
