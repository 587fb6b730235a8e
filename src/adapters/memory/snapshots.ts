import type {
  EventStore,
  Snapshot,
  SnapshotStore,
  StoredSnapshot,
  StreamName,
} from '../../event-sourcing';

/**
 * Keeps snapshots in the memory of this process, for tests of a domain that has a state codec. A
 * snapshot is returned only while `store`, the store of the streams, has its head.
 */
export class MemorySnapshots implements SnapshotStore {
  readonly #newest = new Map<StreamName, Snapshot<readonly string[]>>();

  constructor(private readonly store: Pick<EventStore, 'read'>) {}

  async load(stream: StreamName): Promise<StoredSnapshot | undefined> {
    const snapshot = this.#newest.get(stream);
    if (snapshot === undefined) return undefined;
    // The store no longer has the head of a stream that was erased, so its snapshot is dropped.
    if (await this.#hasHead(stream, snapshot))
      return { ...snapshot, chunks: readChunks(snapshot.chunks) };
    this.#newest.delete(stream);
    return undefined;
  }

  async save(stream: StreamName, { format, head, chunks }: Snapshot): Promise<boolean> {
    const snapshot = { format, head, chunks: [...chunks] };
    const isSaved = await this.#hasHead(stream, snapshot);
    if (isSaved) this.#newest.set(stream, snapshot);
    return isSaved;
  }

  async #hasHead(stream: StreamName, { head }: Pick<Snapshot, 'head'>): Promise<boolean> {
    return (await this.store.read(stream, head)).status === 'read';
  }
}

async function* readChunks(chunks: readonly string[]): AsyncGenerator<string> {
  yield* chunks;
}
