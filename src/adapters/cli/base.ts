import { plantListCodec } from '../../application';
import { PlantList } from '../../domain';
import {
  BEGINNING,
  type Head,
  type StoredBase,
  type StoredSnapshot,
  type StreamName,
  StoreUnavailable,
  UNUSABLE_BASE,
  UnreadableHistory,
  readerOf,
} from '../../event-sourcing';
import { beginningOf } from './archives';
import type { OpenStore } from './command';
import type { ArchivedList } from './event-file';

export const ANOTHER_BASE =
  'its base snapshot is of another history; docs/operations.md#archives explains how to restore it';

/** Where the events of a stream begin in the store: at the beginning, or after its base. Throws {@link UnreadableHistory}. */
export async function startOf(opened: OpenStore, stream: StreamName): Promise<ArchivedList> {
  const base = await neededBase(opened, stream);
  return base === undefined ? beginningOf(stream) : decode(base, stream);
}

/** The head that the events of a stream follow in the store. Throws {@link UnreadableHistory}. */
export async function startHeadOf(opened: OpenStore, stream: StreamName): Promise<Head> {
  return (await neededBase(opened, stream))?.head ?? BEGINNING;
}

/** The base, if the stream does not have its first events. */
async function neededBase(
  { store, snapshots }: OpenStore,
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
  { snapshots }: OpenStore,
  stream: StreamName,
): Promise<ArchivedList | undefined> {
  const base = await snapshots?.loadBase?.(stream);
  return base && decode(base, stream);
}

async function decode(base: StoredBase, stream: StreamName): Promise<ArchivedList> {
  return { stream, head: base.head, archive: base.archive, list: await decodeBase(base) };
}

/** Throws {@link UnreadableHistory} if the base cannot be decoded. */
export async function decodeBase(base: StoredBase): Promise<PlantList> {
  try {
    return await decodeList(base);
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error;
    throw new UnreadableHistory(`${UNUSABLE_BASE}: ${(error as Error).message}`, { cause: error });
  }
}

/** Throws if the snapshot cannot be decoded. */
export async function decodeList({ format, chunks }: StoredSnapshot): Promise<PlantList> {
  const readNext = readerOf(plantListCodec, format);
  let list = new PlantList();
  for await (const chunk of chunks) list = readNext(list, chunk);
  return list;
}
