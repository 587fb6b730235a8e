import type { DatabaseSync } from 'node:sqlite';
import {
  type CataloguedStream,
  type ForeignObject,
  type StreamCatalogue,
  type StreamName,
} from 'plant-store/event-sourcing';
import { type Row, execute, textOf, transaction } from './store.js';

/** The name as bytes: Node 22 reads a text only up to its first NUL. */
const SELECT = 'SELECT CAST(stream AS BLOB) AS stream, max(version) AS version FROM events';

/** The bases whose stream is missing. */
const FOREIGN = `
  SELECT CAST(stream AS BLOB) AS stream FROM bases
  WHERE NOT draft AND stream NOT IN (SELECT stream FROM events)`;

/** Lists and erases the streams of a `SqliteEventStore`, for the command line. */
export class SqliteStreamCatalogue implements StreamCatalogue {
  constructor(private readonly database: DatabaseSync) {}

  async *streams(): AsyncGenerator<CataloguedStream | ForeignObject> {
    yield* this.#all(`${SELECT} GROUP BY events.stream`).map(cataloguedStream);
    for (const row of this.#all(FOREIGN))
      yield { foreign: `the base snapshot of ${textOf(row, 'stream')}, whose events are missing` };
  }

  async find(stream: StreamName): Promise<CataloguedStream | undefined> {
    const rows = this.#all(`${SELECT} WHERE events.stream = ? GROUP BY events.stream`, stream);
    return rows.map(cataloguedStream)[0];
  }

  async erase(stream: StreamName): Promise<number> {
    return transaction(this.database, () => {
      this.database.prepare('DELETE FROM bases WHERE stream = ?').run(stream);
      // The positions stay.
      this.database.prepare('UPDATE feed SET stream = NULL WHERE stream = ?').run(stream);
      return Number(this.database.prepare('DELETE FROM events WHERE stream = ?').run(stream).changes);
    });
  }

  #all(sql: string, ...names: StreamName[]): Row[] {
    return execute(() => this.database.prepare(sql).all(...names));
  }
}

function cataloguedStream(row: Row): CataloguedStream {
  return { stream: textOf(row, 'stream') as StreamName, version: Number(row['version']) };
}
