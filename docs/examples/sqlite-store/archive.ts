import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { Base, Head, StoredBase, StreamArchive, StreamName } from 'plant-store/event-sourcing';
import { SELECT_BASE, baseOf } from './snapshots.js';
import { type Row, execute, transaction } from './store.js';

/** A draft of the stream is replaced: its id is not used again. Without the event of the head it writes nothing. */
const DRAFT = `
  INSERT OR REPLACE INTO bases (stream, draft, format, version, commit_id, archive, chunks)
  SELECT stream, TRUE, ?, version, commit_id, ?, ? FROM events WHERE stream = ? AND version = ? AND commit_id = ?
  RETURNING id`;

/** Makes a draft the base, instead of the current one. If the stream was erased meanwhile, its draft was, too. */
const PUBLISH = `
  UPDATE OR REPLACE bases SET draft = FALSE WHERE id = ?
  AND ? = ifnull((SELECT version FROM bases WHERE stream = ? AND NOT draft), 0)
  RETURNING id`;

const CURRENT = `
  SELECT id FROM bases WHERE stream = ? AND version = ? AND commit_id = ? AND NOT draft
  AND id NOT IN (SELECT id FROM lost_bases)`;

/** Not all at once: other processes wait for a transaction. */
const TRIM = `
  DELETE FROM events WHERE stream = ? AND version < ?
  AND version < 5000 + (SELECT min(version) FROM events WHERE stream = ?)`;

const BYTES = 'SELECT sum(octet_length(type) + octet_length(data)) AS bytes FROM events WHERE stream = ?';

/** Replaces the first events of the streams of a `SqliteEventStore` by a base snapshot. */
export class SqliteStreamArchive implements StreamArchive {
  constructor(private readonly database: DatabaseSync) {}

  async saveBase(
    stream: StreamName,
    { format, head, archive, chunks }: Base,
    replaced: number,
    check: (stored: StoredBase) => Promise<void>,
  ): Promise<boolean> {
    const texts = [format, archive, JSON.stringify([...chunks])];
    const draft = this.#get(DRAFT, ...texts, stream, head.version, head.commit);
    const stored = draft && this.#get(`${SELECT_BASE} WHERE id = ?`, draft['id']!);
    if (stored === undefined) return false;
    await check(baseOf(stored));
    return this.#get(PUBLISH, stored['id']!, replaced, stream) !== undefined;
  }

  async trim(stream: StreamName, { version, commit }: Head): Promise<number | undefined> {
    return transaction(this.database, () => {
      if (this.#get(CURRENT, stream, version, commit) === undefined) return undefined;
      return Number(this.database.prepare(TRIM).run(stream, version, stream).changes);
    });
  }

  async bytes(stream: StreamName): Promise<number | undefined> {
    return Number(this.#get(BYTES, stream)!['bytes']);
  }

  #get(sql: string, ...args: SQLInputValue[]): Row | undefined {
    return execute(() => this.database.prepare(sql).get(...args));
  }
}
