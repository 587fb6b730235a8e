/**
 * The checkpoint of a projection in a SQLite database. A read model in the same database calls
 * `write` in the transaction of its own data, and so applies each event exactly once.
 */
import type { DatabaseSync, SQLInputValue, SQLOutputValue } from 'node:sqlite';
import type * as port from 'plant-store/event-sourcing';
import {
  CheckpointConflict,
  OutcomeUnknown,
  START,
  StoreUnavailable,
} from 'plant-store/event-sourcing';

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS positions (
    projection TEXT, bucket INTEGER, revision INTEGER, epoch TEXT, sequence INTEGER, PRIMARY KEY (projection, bucket)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS heads (
    projection TEXT, bucket INTEGER, stream TEXT, version INTEGER, commit_id TEXT, PRIMARY KEY (projection, bucket, stream)
  ) STRICT, WITHOUT ROWID`;

/** Texts as bytes: Node reads a text only up to its first NUL. */
const POSITION =
  'SELECT revision, epoch, sequence FROM positions WHERE projection = ? AND bucket = ?';
const MOVE = 'INSERT OR REPLACE INTO positions VALUES (?, ?, ?, ?, ?)';
const HEADS = `
  SELECT CAST(stream AS BLOB) AS stream, version, CAST(commit_id AS BLOB) AS "commit" FROM heads
  WHERE projection = ? AND bucket = ?`;
const SET_HEAD = 'INSERT OR REPLACE INTO heads VALUES (?, ?, ?, ?, ?)';
const REMOVE_HEAD = 'DELETE FROM heads WHERE projection = ? AND bucket = ? AND stream = ?';

export class SqliteCheckpoints implements port.CheckpointStore {
  constructor(
    private readonly database: DatabaseSync,
    private readonly projection: string,
  ) {
    database.exec(SCHEMA);
  }

  async load(bucket: number, streams: readonly port.StreamName[]): Promise<port.Progress> {
    const position = this.#position(bucket);
    const heads = new Map<port.StreamName, port.Head>();
    for (const stream of streams)
      for (const row of this.#all(`${HEADS} AND stream = ?`, bucket, stream))
        heads.set(stream, { version: Number(row['version']), commit: textOf(row, 'commit') });
    return { ...position, heads };
  }

  async *streams(bucket: number): AsyncGenerator<port.StreamName> {
    for (const row of this.#all(HEADS, bucket)) yield textOf(row, 'stream') as port.StreamName;
  }

  async save(write: port.CheckpointWrite): Promise<void> {
    // IMMEDIATE: no other process can write between the comparison and the commit.
    refused(() => this.database.exec('BEGIN IMMEDIATE'));
    try {
      this.write(write);
    } catch (error) {
      this.database.exec('ROLLBACK');
      throw error;
    }
    try {
      this.database.exec('COMMIT');
    } catch (cause) {
      if (this.database.isTransaction) this.database.exec('ROLLBACK');
      throw new OutcomeUnknown('COMMIT failed', { cause });
    }
  }

  /**
   * Writes the checkpoint of a batch in the transaction that is open. Throws CheckpointConflict:
   * then roll it back.
   */
  write({ bucket, expectedRevision, position, heads }: port.CheckpointWrite): void {
    if (this.#position(bucket).revision !== expectedRevision) throw new CheckpointConflict();
    if (position) this.#all(MOVE, bucket, expectedRevision + 1, position.epoch, position.sequence);
    for (const [stream, head] of heads)
      if (head) this.#all(SET_HEAD, bucket, stream, head.version, head.commit);
      else this.#all(REMOVE_HEAD, bucket, stream);
  }

  #position(bucket: number): Pick<port.Progress, 'revision' | 'position'> {
    const row = this.#all(POSITION, bucket)[0];
    if (row === undefined) return { revision: 0, position: START };
    const { revision, epoch, sequence } = row;
    return {
      revision: Number(revision),
      position: { epoch: String(epoch), sequence: Number(sequence) },
    };
  }

  #all(sql: string, ...values: SQLInputValue[]): Record<string, SQLOutputValue>[] {
    return refused(() => this.database.prepare(sql).all(this.projection, ...values));
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

function textOf(row: Record<string, SQLOutputValue>, column: string): string {
  return Buffer.from(row[column] as Uint8Array).toString();
}
