import {
  type AnyKind,
  BEGINNING,
  type Head,
  ReplayedState,
  type StoredBase,
  type StreamName,
  StoreUnavailable,
  UNUSABLE_BASE,
  UnreadableHistory,
} from '../../event-sourcing';
import { beginningOf } from './archives';
import type { CliStore } from './command';
import type { ArchivedState } from './event-file';
import type { StreamOfKind } from './found-streams';

export const ANOTHER_BASE =
  'its base snapshot is of another history; docs/operations.md#archives explains how to restore it';

/** Where the events of a stream begin in the store: at the beginning, or after its base. Throws {@link UnreadableHistory}. */
export async function startOf(opened: CliStore, of: StreamOfKind): Promise<ArchivedState> {
  const base = await neededBase(opened, of.stream);
  return base === undefined ? beginningOf(of) : decode(base, of);
}

/** The head that the events of a stream follow in the store. Throws {@link UnreadableHistory}. */
export async function startHeadOf(opened: CliStore, stream: StreamName): Promise<Head> {
  return (await neededBase(opened, stream))?.head ?? BEGINNING;
}

/** The base, if the stream does not have its first events. */
async function neededBase(
  { store, snapshots }: CliStore,
  stream: StreamName,
): Promise<StoredBase | undefined> {
  const { status } = await store.read(stream, BEGINNING);
  if (status !== 'archived') return undefined;
  const base = await snapshots?.loadBase?.(stream);
  if (base === undefined) throw new UnreadableHistory(`${UNUSABLE_BASE}: it is missing`);
  return base;
}

/** The base of the stream, decoded; `undefined` if there is none. Throws {@link UnreadableHistory}. */
export async function readBase(
  { snapshots }: CliStore,
  of: StreamOfKind,
): Promise<ArchivedState | undefined> {
  const base = await snapshots?.loadBase?.(of.stream);
  return base && decode(base, of);
}

async function decode(base: StoredBase, { stream, kind }: StreamOfKind): Promise<ArchivedState> {
  return { stream, head: base.head, archive: base.archive, state: await decodeBase(kind, base) };
}

/** Throws {@link UnreadableHistory} if the base cannot be decoded. */
export async function decodeBase(kind: AnyKind, base: StoredBase): Promise<ReplayedState> {
  try {
    return await ReplayedState.restore(kind, base);
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error;
    throw new UnreadableHistory(`${UNUSABLE_BASE}: ${(error as Error).message}`, { cause: error });
  }
}
