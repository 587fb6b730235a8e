import { createHash } from 'node:crypto';
import { plantListCodec } from '../../application';
import type { PlantList } from '../../domain';
import {
  BrokenSnapshot,
  type Head,
  type SnapshotStore,
  StoreUnavailable,
  type StreamName,
} from '../../event-sourcing';

/** Compares the snapshot of one stream with a replay. Holds its checksum, not its plants. */
export class SnapshotCheck {
  #head: Head | undefined;
  #digest = '';
  /** The problem found so far; `undefined` if there is none. */
  #problem: string | undefined;

  private constructor() {}

  /** Reads the newest snapshot, if there is one in the format of this version. */
  static async begin(snapshots: SnapshotStore | undefined, stream: StreamName): Promise<SnapshotCheck> {
    const check = new SnapshotCheck();
    try {
      const snapshot = await snapshots?.load(stream);
      if (snapshot?.format !== plantListCodec.format) return check;
      const digest = new Digest();
      for await (const chunk of snapshot.chunks) digest.add(chunk);
      check.#digest = digest.end();
      check.#head = snapshot.head;
    } catch (error) {
      if (!(error instanceof BrokenSnapshot || error instanceof StoreUnavailable)) throw error;
      check.#problem = `its snapshot cannot be read: ${error.message}`;
    }
    return check;
  }

  /** Takes the state of the replay after each event. */
  replayed(list: PlantList, commit: string): void {
    if (list.version !== this.#head?.version) return;
    const digest = new Digest();
    for (const chunk of plantListCodec.encode(list)) digest.add(chunk);
    if (commit !== this.#head.commit) this.#problem = ANOTHER_HISTORY;
    else if (digest.end() !== this.#digest)
      this.#problem = `its snapshot differs from the replay at version ${list.version}`;
    this.#head = undefined;
  }

  /** The problem of the snapshot, after a replay to `version`; that is 0 if the stream was erased meanwhile. */
  end(version: number): string | undefined {
    return this.#head === undefined || version === 0 ? this.#problem : ANOTHER_HISTORY;
  }
}

const ANOTHER_HISTORY = 'its snapshot is of another history';

class Digest {
  readonly #hash = createHash('sha256');

  add(chunk: string): void {
    this.#hash.update(`${chunk.length}:`).update(chunk);
  }

  end(): string {
    return this.#hash.digest('hex');
  }
}
