import { type Hash, createHash } from 'node:crypto';
import {
  type AnyKind,
  BrokenSnapshot,
  type Head,
  ReplayedState,
  type StoredSnapshot,
  StoreUnavailable,
  isTransient,
} from '../../event-sourcing';

/** Compares the snapshot of one stream with a replay. Holds its checksum, not its state. */
export class SnapshotCheck {
  #head: Head | undefined;
  #digest = '';
  /** The problem found so far; `undefined` if there is none. */
  #problem: string | undefined;

  private constructor(private readonly name: string) {}

  /** Reads the snapshot that `load` returns, if there is one in the format of this version. */
  static async of(
    name: string,
    kind: AnyKind,
    load: () => Promise<StoredSnapshot | undefined> | undefined,
  ): Promise<SnapshotCheck> {
    const check = new SnapshotCheck(name);
    const read = async () => {
      const snapshot = await load();
      if (snapshot === undefined || !Object.hasOwn(kind.stateCodec.readers, snapshot.format)) return;
      check.#digest = await digestOfSnapshot(kind, snapshot);
      check.#head = snapshot.head;
    };
    try {
      // A service may have replaced the snapshot while it was read.
      await read().catch((error: unknown) => (isTransient(error) ? read() : Promise.reject(error as Error)));
    } catch (error) {
      if (!(error instanceof BrokenSnapshot || error instanceof StoreUnavailable)) throw error;
      check.#problem = `its ${name} cannot be read: ${error.message}`;
    }
    return check;
  }

  /** Takes the state that the replay begins with. An older snapshot is not used. */
  begin(state: ReplayedState): void {
    if (this.#head !== undefined && this.#head.version < state.head.version) this.#head = undefined;
    this.replayed(state);
  }

  /** Takes the state of the replay after each event. */
  replayed(state: ReplayedState): void {
    const { version, commit } = state.head;
    if (version !== this.#head?.version) return;
    if (commit !== this.#head.commit) this.#problem = this.#another;
    else if (digestOf(state) !== this.#digest)
      this.#problem = `its ${this.name} differs from the replay at version ${version}`;
    this.#head = undefined;
  }

  /** The problem of the snapshot, after a replay to `version`; that is 0 if the stream was erased meanwhile. */
  end(version: number): string | undefined {
    return this.#head === undefined || version === 0 ? this.#problem : this.#another;
  }

  get #another(): string {
    return `its ${this.name} is of another history`;
  }
}

/** The digest of its chunks. Those of an older format are written anew. */
async function digestOfSnapshot(kind: AnyKind, snapshot: StoredSnapshot): Promise<string> {
  if (snapshot.format !== kind.stateCodec.format)
    return digestOf(await ReplayedState.restore(kind, snapshot));
  const hash = createHash('sha256');
  for await (const chunk of snapshot.chunks) addChunk(hash, chunk);
  return hash.digest('hex');
}

/** SHA-256 of the chunks of a state, each with its length. */
export function digestOf(state: ReplayedState): string {
  const hash = createHash('sha256');
  for (const chunk of state.snapshot().chunks) addChunk(hash, chunk);
  return hash.digest('hex');
}

function addChunk(hash: Hash, chunk: string): void {
  hash.update(`${chunk.length}:`).update(chunk);
}
