import type { DatabaseSync } from 'node:sqlite';
import {
  BrokenSnapshot,
  type Snapshot,
  type SnapshotStore,
  type StoredSnapshot,
  type StreamName,
} from 'plant-store/event-sourcing';
import { unavailable } from './store.js';

/** A snapshot is deleted with the event of its head, so that erasing a stream leaves none. */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS snapshots (
    stream TEXT PRIMARY KEY, format TEXT, version INTEGER, commit_id TEXT, chunks TEXT,
    FOREIGN KEY (stream, version) REFERENCES events ON DELETE CASCADE
  ) STRICT`;

/** A single statement, so that the event cannot be deleted between the comparison of the head and the write. */
const SAVE = `
  INSERT OR REPLACE INTO snapshots (stream, format, version, commit_id, chunks)
  SELECT stream, ?, version, commit_id, ? FROM events WHERE stream = ? AND version = ? AND commit_id = ?`;

/** Texts as bytes: Node 22 reads a text only up to its first NUL. */
const LOAD = `
  SELECT CAST(format AS BLOB) AS format, version, CAST(commit_id AS BLOB) AS "commit", chunks
  FROM snapshots WHERE stream = ?`;

/** Keeps the snapshots of a `SqliteEventStore`: the chunks of each as one JSON text. */
export class SqliteSnapshotStore implements SnapshotStore {
  /** @param database with the tables of a `SqliteEventStore`. */
  constructor(private readonly database: DatabaseSync) {
    database.exec(SCHEMA);
  }

  async load(stream: StreamName): Promise<StoredSnapshot | undefined> {
    const row = this.#execute(() => this.database.prepare(LOAD).get(stream));
    if (row === undefined) return undefined;
    const text = (name: string) => Buffer.from(row[name] as Uint8Array).toString();
    const head = { version: Number(row['version']), commit: text('commit') };
    return { format: text('format'), head, chunks: chunksOf(row['chunks']) };
  }

  async save(stream: StreamName, { format, head, chunks }: Snapshot): Promise<boolean> {
    const json = JSON.stringify([...chunks]);
    const args = [format, json, stream, head.version, head.commit];
    return this.#execute(() => this.database.prepare(SAVE).run(...args)).changes > 0;
  }

  #execute<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw unavailable(error);
    }
  }
}

async function* chunksOf(json: unknown): AsyncGenerator<string> {
  let chunks: string[];
  try {
    chunks = JSON.parse(String(json)) as string[];
  } catch (error) {
    throw new BrokenSnapshot('its chunks are no JSON', { cause: error });
  }
  yield* chunks;
}
