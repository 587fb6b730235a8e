import { createHash } from 'node:crypto';
import { plantListCodec } from '../../application';
import type { PlantList } from '../../domain';
import {
  BrokenSnapshot,
  type Head,
  type SnapshotStore,
  type StoredSnapshot,
  StoreUnavailable,
  type StreamName,
  isTransient,
} from '../../event-sourcing';
import { decodeList } from './base';

/** Compares the snapshot of one stream with a replay. Holds its checksum, not its plants. */
export class SnapshotCheck {
  #head: Head | undefined;
  #digest = '';
  /** The problem found so far; `undefined` if there is none. */
  #problem: string | undefined;

  private constructor(private readonly name: string) {}

  /** Reads the newest snapshot, if there is one in the format of this version. */
  static ofNewest(snapshots: SnapshotStore | undefined, stream: StreamName): Promise<SnapshotCheck> {
    return SnapshotCheck.of('snapshot', () => snapshots?.load(stream));
  }

  /** Reads the base snapshot. */
  static ofBase(snapshots: SnapshotStore | undefined, stream: StreamName): Promise<SnapshotCheck> {
    return SnapshotCheck.of('base snapshot', () => snapshots?.loadBase?.(stream));
  }

  private static async of(
    name: string,
    load: () => Promise<StoredSnapshot | undefined> | undefined,
  ): Promise<SnapshotCheck> {
    const check = new SnapshotCheck(name);
    const read = async () => {
      const snapshot = await load();
      if (snapshot === undefined || !Object.hasOwn(plantListCodec.readers, snapshot.format)) return;
      check.#digest = await digestOfSnapshot(snapshot);
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
  begin(list: PlantList, { version, commit }: Head): void {
    if (this.#head !== undefined && this.#head.version < version) this.#head = undefined;
    this.replayed(list, commit);
  }

  /** Takes the state of the replay after each event. */
  replayed(list: PlantList, commit: string): void {
    if (list.version !== this.#head?.version) return;
    if (commit !== this.#head.commit) this.#problem = this.#another;
    else if (digestOf(list) !== this.#digest)
      this.#problem = `its ${this.name} differs from the replay at version ${list.version}`;
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
async function digestOfSnapshot(snapshot: StoredSnapshot): Promise<string> {
  if (snapshot.format !== plantListCodec.format) return digestOf(await decodeList(snapshot));
  const digest = new Digest();
  for await (const chunk of snapshot.chunks) digest.add(chunk);
  return digest.end();
}

/** SHA-256 of the chunks of a list, each with its length. */
export function digestOf(list: PlantList): string {
  const digest = new Digest();
  for (const chunk of plantListCodec.encode(list)) digest.add(chunk);
  return digest.end();
}

class Digest {
  readonly #hash = createHash('sha256');

  add(chunk: string): void {
    this.#hash.update(`${chunk.length}:`).update(chunk);
  }

  end(): string {
    return this.#hash.digest('hex');
  }
}
