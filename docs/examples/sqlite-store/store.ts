/**
 * An event store in a SQLite database, with the index of its streams. Several processes of one
 * machine may use it at a time. Each call blocks its process until SQLite has answered.
 */
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite';
import { systemClock } from 'plant-store/adapters/system';
import type * as port from 'plant-store/event-sourcing';
import {
  BEGINNING,
  ChangePoller,
  OutcomeUnknown,
  START,
  StoreUnavailable,
  invalidAppend,
} from 'plant-store/event-sourcing';

const SCHEMA = `
  PRAGMA busy_timeout = 1000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
  CREATE TABLE IF NOT EXISTS events (
    stream TEXT, version INTEGER, commit_id TEXT, type TEXT, data TEXT, PRIMARY KEY (stream, version)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS streams (stream TEXT PRIMARY KEY, sequence INTEGER UNIQUE) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS last (id INTEGER PRIMARY KEY CHECK (id = 1), sequence INTEGER, epoch TEXT) STRICT;
  INSERT OR IGNORE INTO last VALUES (1, 0, hex(randomblob(8)))`;

/**
 * The event at a version, and those after it. Texts as bytes: Node reads a text only up to its
 * first NUL.
 */
const NEWER = `
  SELECT version, CAST(commit_id AS BLOB) AS "commit", CAST(type AS BLOB) AS type, CAST(data AS BLOB) AS data
  FROM events WHERE stream = ? AND version >= ? ORDER BY version LIMIT ?`;
const HEAD = `
  SELECT version, CAST(commit_id AS BLOB) AS "commit" FROM events WHERE stream = ? ORDER BY version DESC LIMIT 1`;
const INSERT = 'INSERT INTO events VALUES (?, ?, ?, ?, ?)';
/** With the epoch, also if there is no change. */
const CHANGED = `
  SELECT epoch, CAST(stream AS BLOB) AS stream, streams.sequence AS sequence FROM last
  LEFT JOIN streams ON streams.sequence > ? ORDER BY streams.sequence LIMIT ?`;
const NEWEST = `
  SELECT CAST(stream AS BLOB) AS stream, sequence FROM streams WHERE sequence > ? ORDER BY sequence DESC LIMIT 10`;

type Row = Readonly<Record<string, SQLOutputValue>>;

export class SqliteEventStore implements port.EventStore, port.StreamIndex {
  /** All streams are in one bucket, because a transaction changes all tables. */
  readonly buckets = 1;
  readonly bucketOf = () => 0;
  readonly #poller = new ChangePoller(this, systemClock);

  /** @param pageSize maximum number of events of a read or a conflict, 1 or more. */
  constructor(
    private readonly database: DatabaseSync,
    private readonly pageSize = 500,
  ) {
    database.exec(SCHEMA);
  }

  async read(stream: port.StreamName, after: port.Head): Promise<port.ReadResult> {
    return this.#newer(stream, after);
  }

  async append(
    stream: port.StreamName,
    expected: port.Head,
    commit: string,
    events: readonly port.EncodedEvent[],
  ): Promise<port.AppendResult> {
    const invalid = invalidAppend(commit, events);
    if (invalid) throw invalid;
    return this.#transaction(() => {
      const newer = this.#newer(stream, expected);
      if (newer.status !== 'read') return newer;
      const next = newer.events[0];
      if (next !== undefined && next.commit !== commit) return { ...newer, status: 'conflict' };
      // If the next event has this commit, the append is a repetition and has the same result.
      if (next === undefined) {
        for (const [index, { type, data }] of events.entries())
          this.#run(INSERT, stream, expected.version + index + 1, commit, type, data);
        this.#run('UPDATE last SET sequence = sequence + 1');
        this.#run('INSERT OR REPLACE INTO streams SELECT ?, sequence FROM last', stream);
      }
      return { status: 'appended', head: { version: expected.version + events.length, commit } };
    });
  }

  async changed(_bucket: number, after: port.Position, limit: number): Promise<port.ChangesResult> {
    const rows = this.#all(CHANGED, after.sequence, limit + 1);
    const epoch = String(rows[0]!['epoch']);
    const isStart = after.epoch === START.epoch && after.sequence === START.sequence;
    if (!isStart && after.epoch !== epoch) return { status: 'reset', epoch };
    const found = rows.filter((row) => row['sequence'] !== null).map(changeOf);
    const changed = found.slice(0, limit);
    const { sequence } = changed.at(-1) ?? after;
    const more = found.length > limit;
    const newest = more ? this.#all(NEWEST, sequence).map(changeOf).reverse() : [];
    return { status: 'read', changed, newest, next: { epoch, sequence }, more };
  }

  async head(stream: port.StreamName): Promise<port.Head | undefined> {
    return this.#all(HEAD, stream).map(headOf)[0];
  }

  async erase(stream: port.StreamName): Promise<number> {
    return this.#transaction(() => {
      const erased = this.#run('DELETE FROM events WHERE stream = ?', stream);
      this.#run('DELETE FROM streams WHERE stream = ?', stream);
      if (erased > 0) this.#run('UPDATE last SET epoch = hex(randomblob(8))');
      return erased;
    });
  }

  notify(listener: port.ChangeListener): () => void {
    return this.#poller.notify(listener);
  }

  /** Compares the head with the history. Returns the events after it. */
  #newer(stream: port.StreamName, { version, commit }: port.Head): port.ReadResult {
    const events = this.#all(NEWER, stream, version, this.pageSize + 2).map((row) => {
      return { ...headOf(row), type: textOf(row, 'type'), data: textOf(row, 'data') };
    });
    // The first row is the event at the head, unless that is the beginning.
    const known = version === 0 ? BEGINNING : events.shift();
    if (known?.version !== version || known.commit !== commit) return { status: 'reset' };
    return {
      status: 'read',
      events: events.slice(0, this.pageSize),
      more: events.length > this.pageSize,
    };
  }

  #all(sql: string, ...values: (string | number)[]): Row[] {
    return refused(() => this.database.prepare(sql).all(...values));
  }

  #run(sql: string, ...values: (string | number)[]): number {
    return refused(() => Number(this.database.prepare(sql).run(...values).changes));
  }

  /** All changes of `work`, or none. */
  #transaction<T>(work: () => T): T {
    // IMMEDIATE: no other process can write between what `work` reads and the commit.
    refused(() => this.database.exec('BEGIN IMMEDIATE'));
    let committing = false;
    try {
      const result = work();
      committing = true;
      this.database.exec('COMMIT');
      return result;
    } catch (error) {
      if (this.database.isTransaction) this.database.exec('ROLLBACK');
      throw committing ? new OutcomeUnknown('COMMIT failed', { cause: error }) : error;
    }
  }
}

/** Any error of SQLite but that of a COMMIT: nothing was written. */
function refused<T>(statement: () => T): T {
  try {
    return statement();
  } catch (cause) {
    throw new StoreUnavailable('SQLite refused', { cause });
  }
}

function headOf(row: Row): port.Head {
  return { version: Number(row['version']), commit: textOf(row, 'commit') };
}

function changeOf(row: Row) {
  return { stream: textOf(row, 'stream') as port.StreamName, sequence: Number(row['sequence']) };
}

function textOf(row: Row, column: string): string {
  return Buffer.from(row[column] as Uint8Array).toString();
}

/** For the service and its command line: `EVENT_STORE` names the compiled file. */
export function openEventStore(): port.OpenEventStore {
  const database = new DatabaseSync(process.env['SQLITE_FILE'] ?? 'plants.db');
  const store = new SqliteEventStore(database);
  return {
    store,
    index: store,
    check: () => store.read('check' as port.StreamName, BEGINNING).then(() => ({ writes: true })),
    close: () => database.close(),
  };
}
