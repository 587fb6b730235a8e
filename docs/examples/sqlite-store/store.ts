/**
 * An event store in a SQLite database. Several processes of one machine may use
 * it at a time. Each call blocks its process until SQLite has answered.
 */
import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite';
import {
  type AppendResult,
  BEGINNING,
  type EncodedEvent,
  type EventStore,
  type Head,
  OutcomeUnknown,
  type ReadResult,
  StoreUnavailable,
  type StoredEvent,
  type StreamName,
  UnreadableHistory,
} from 'plant-store/event-sourcing';

const SCHEMA = `
  PRAGMA busy_timeout = 1000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
  CREATE TABLE IF NOT EXISTS events (
    stream TEXT, version INTEGER, commit_id TEXT, type TEXT, data TEXT, PRIMARY KEY (stream, version)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS bases (
    id INTEGER PRIMARY KEY AUTOINCREMENT, stream TEXT, draft INTEGER,
    format TEXT, version INTEGER, commit_id TEXT, archive TEXT, chunks TEXT, UNIQUE (stream, draft)
  ) STRICT;
  CREATE TABLE IF NOT EXISTS feed (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT, commit_id TEXT, stream TEXT, version INTEGER
  ) STRICT;
  CREATE VIEW IF NOT EXISTS lost_bases AS SELECT * FROM bases WHERE NOT EXISTS (
    SELECT * FROM events WHERE (stream, version, commit_id) = (bases.stream, bases.version, bases.commit_id)
  )`;

/** The event at a version, and those after it. Texts as bytes: Node 22 reads a text only up to its first NUL. */
const SELECT = `
  SELECT version, CAST(commit_id AS BLOB) AS "commit", CAST(type AS BLOB) AS type, CAST(data AS BLOB) AS data
  FROM events WHERE stream = ? AND version >= ? ORDER BY version LIMIT ?`;

const INSERT = 'INSERT INTO events (stream, version, commit_id, type, data) VALUES (?, ?, ?, ?, ?)';

/** The entry of the feed, and those that are trimmed. */
const PUBLISH = 'INSERT INTO feed (commit_id, stream, version) VALUES (?, ?, ?)';
const TRIM = 'DELETE FROM feed WHERE sequence <= (SELECT max(sequence) FROM feed) - ?';

const LOST_BASE = 'SELECT id FROM lost_bases WHERE stream = ? AND NOT draft';

export class SqliteEventStore implements EventStore {
  readonly #select: StatementSync;
  readonly #insert: StatementSync;
  readonly #publish: StatementSync;
  readonly #trim: StatementSync;
  readonly #lostBase: StatementSync;

  /**
   * @param pageSize maximum number of events of a read or a conflict, 1 or more.
   * @param feedLength number of entries that the feed keeps.
   */
  constructor(
    private readonly database: DatabaseSync,
    private readonly pageSize = 500,
    private readonly feedLength = 100_000,
  ) {
    database.exec(SCHEMA);
    this.#select = database.prepare(SELECT);
    this.#insert = database.prepare(INSERT);
    this.#publish = database.prepare(PUBLISH);
    this.#trim = database.prepare(TRIM);
    this.#lostBase = database.prepare(LOST_BASE);
  }

  async read(stream: StreamName, after: Head): Promise<ReadResult> {
    return execute(() => this.#newer(stream, after));
  }

  async append(
    stream: StreamName,
    expected: Head,
    commit: string,
    events: readonly EncodedEvent[],
  ): Promise<AppendResult> {
    if (events.length === 0 || commit === '') throw new RangeError('an event or the commit id is missing');
    return transaction(this.database, () => {
      const newer = this.#newer(stream, expected);
      if (newer.status !== 'read') return newer;
      const next = newer.events[0];
      if (next !== undefined && next.commit !== commit) return { ...newer, status: 'conflict' };
      const head = { version: expected.version + events.length, commit };
      // If the next event has this commit, the append is a repetition and has the same result.
      if (next !== undefined) return { status: 'appended', head };
      for (const [index, { type, data }] of events.entries())
        this.#insert.run(stream, expected.version + index + 1, commit, type, data);
      this.#publish.run(commit, stream, head.version);
      this.#trim.run(this.feedLength);
      return { status: 'appended', head };
    });
  }

  /** Compares the head with the history. Returns the events after it. */
  #newer(stream: StreamName, { version, commit }: Head): ReadResult {
    if (version === 0 && this.#lostBase.get(stream) !== undefined)
      throw new UnreadableHistory('the event of its base snapshot is missing');
    const rows = this.#select.all(stream, version, this.pageSize + 2).map(rowOf);
    if (rows.length > 0 && rows[0]!.version > Math.max(1, version)) return { status: 'archived' };
    // The first row is the event at the head, unless that is the beginning.
    const known = version === 0 ? BEGINNING : rows.shift();
    if (known?.version !== version || known.commit !== commit) return { status: 'reset' };
    return { status: 'read', events: rows.slice(0, this.pageSize), more: rows.length > this.pageSize };
  }
}

/** All changes of `work`, or none. */
export function transaction<T>(database: DatabaseSync, work: () => T): T {
  let committing = false;
  try {
    // IMMEDIATE: no other process can write between what `work` reads and the commit.
    database.exec('BEGIN IMMEDIATE');
    const result = work();
    committing = true;
    database.exec('COMMIT');
    return result;
  } catch (error) {
    try {
      database.exec('ROLLBACK');
    } catch {
      // There is no transaction: SQLite has not begun it, or has ended it already.
    }
    throw committing ? new OutcomeUnknown('COMMIT failed', { cause: error }) : unavailable(error);
  }
}

function rowOf(row: Row): StoredEvent {
  return {
    version: Number(row['version']),
    commit: textOf(row, 'commit'),
    type: textOf(row, 'type'),
    data: textOf(row, 'data'),
  };
}

export type Row = Readonly<Record<string, SQLOutputValue>>;

/** The text of a column that was selected as bytes. */
export function textOf(row: Row, column: string): string {
  return Buffer.from(row[column] as Uint8Array).toString();
}

/** A statement outside of a transaction, which has no COMMIT of its own: if it fails, nothing was written. */
export function execute<T>(statement: () => T): T {
  try {
    return statement();
  } catch (error) {
    throw unavailable(error);
  }
}

/** Any error of SQLite but that of a COMMIT: nothing was written. */
function unavailable(error: unknown): StoreUnavailable {
  return error instanceof StoreUnavailable ? error : new StoreUnavailable('SQLite refused', { cause: error });
}
