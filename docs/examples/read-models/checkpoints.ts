import type { DatabaseSync } from 'node:sqlite';
import { CheckpointConflict, type CheckpointStore, type CheckpointWrite } from 'plant-store/event-sourcing';

/** The checkpoint of one projection in a SQLite database. */
export class SqliteCheckpoints implements CheckpointStore {
  readonly #statements;

  constructor(private readonly database: DatabaseSync) {
    database.exec(`
      PRAGMA busy_timeout = 1000; PRAGMA journal_mode = WAL;
      CREATE TABLE IF NOT EXISTS checkpoint (key TEXT PRIMARY KEY, value TEXT) STRICT, WITHOUT ROWID`);
    this.#statements = {
      load: database.prepare('SELECT value FROM checkpoint WHERE key = ?'),
      keys: database.prepare(`SELECT key FROM checkpoint WHERE key GLOB ? || '*'`),
      save: database.prepare('INSERT OR REPLACE INTO checkpoint VALUES (?, ?)'),
      remove: database.prepare('DELETE FROM checkpoint WHERE key = ?'),
    };
  }

  load(keys: readonly string[]): (string | undefined)[] {
    return keys.map((key) => this.#statements.load.get(key)?.['value'] as string | undefined);
  }

  keys(prefix: string): string[] {
    return this.#statements.keys.all(prefix).map(({ key }) => key as string);
  }

  async save(write: CheckpointWrite): Promise<void> {
    this.transaction(write, () => {});
  }

  /** Does `work` and writes the checkpoint, both or neither. */
  transaction({ key, expected, values }: CheckpointWrite, work: () => void): void {
    // IMMEDIATE: no other process can write between the comparison and the commit.
    this.database.exec('BEGIN IMMEDIATE');
    try {
      if (this.load([key])[0] !== expected) throw new CheckpointConflict();
      work();
      for (const [each, value] of values)
        if (value === undefined) this.#statements.remove.run(each);
        else this.#statements.save.run(each, value);
      this.database.exec('COMMIT');
    } catch (error) {
      this.database.exec('ROLLBACK');
      throw error;
    }
  }
}
