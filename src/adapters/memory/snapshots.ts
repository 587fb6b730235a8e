import type { EventStore, Snapshot, SnapshotStore, StoredSnapshot, StreamName } from '../../event-sourcing';

/** Keeps snapshots in the memory of this process: for tests of a domain that has a state codec. */
export class MemorySnapshots implements SnapshotStore {
  readonly #newest = new Map<StreamName, Snapshot<readonly string[]>>();

  /** @param store the store of the streams. */
  constructor(private readonly store: Pick<EventStore, 'read'>) {}

  async load(stream: StreamName): Promise<StoredSnapshot | undefined> {
    const snapshot = this.#newest.get(stream);
    if (snapshot === undefined) return undefined;
    // An erased stream has no snapshot.
    if (await this.#hasHead(stream, snapshot)) return { ...snapshot, chunks: replay(snapshot.chunks) };
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

async function* replay(chunks: readonly string[]): AsyncGenerator<string> {
  yield* chunks;
}
