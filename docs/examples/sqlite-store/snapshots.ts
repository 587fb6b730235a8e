import type { DatabaseSync } from 'node:sqlite';
import {
  BrokenSnapshot,
  type Snapshot,
  type SnapshotStore,
  type StoredBase,
  type StoredSnapshot,
  type StreamName,
} from 'plant-store/event-sourcing';
import { type Row, execute, textOf } from './store.js';

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
const COLUMNS = 'CAST(format AS BLOB) AS format, version, CAST(commit_id AS BLOB) AS "commit", chunks';

const LOAD = `SELECT ${COLUMNS} FROM snapshots WHERE stream = ?`;

export const SELECT_BASE = `SELECT id, ${COLUMNS}, CAST(archive AS BLOB) AS archive FROM bases`;

const LOAD_BASE = `${SELECT_BASE} WHERE stream = ? AND NOT draft`;

/** Keeps the snapshots of a `SqliteEventStore`: the chunks of each as one JSON text. */
export class SqliteSnapshotStore implements SnapshotStore {
  /** @param database with the tables of a `SqliteEventStore`. */
  constructor(private readonly database: DatabaseSync) {
    database.exec(SCHEMA);
  }

  async load(stream: StreamName): Promise<StoredSnapshot | undefined> {
    const row = execute(() => this.database.prepare(LOAD).get(stream));
    return row && snapshotOf(row);
  }

  async loadBase(stream: StreamName): Promise<StoredBase | undefined> {
    const row = execute(() => this.database.prepare(LOAD_BASE).get(stream));
    return row && baseOf(row);
  }

  async save(stream: StreamName, { format, head, chunks }: Snapshot): Promise<boolean> {
    const json = JSON.stringify([...chunks]);
    const args = [format, json, stream, head.version, head.commit];
    return execute(() => this.database.prepare(SAVE).run(...args)).changes > 0;
  }
}

export function baseOf(row: Row): StoredBase {
  return { ...snapshotOf(row), archive: textOf(row, 'archive') };
}

function snapshotOf(row: Row): StoredSnapshot {
  const head = { version: Number(row['version']), commit: textOf(row, 'commit') };
  return { format: textOf(row, 'format'), head, chunks: chunksOf(row['chunks']) };
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
