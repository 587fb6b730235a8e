import type { DatabaseSync } from 'node:sqlite';
import { type CataloguedStream, type StreamCatalogue, type StreamName } from 'plant-store/event-sourcing';
import { unavailable } from './store.js';

/** The name as bytes: Node 22 reads a text only up to its first NUL. */
const SELECT = 'SELECT CAST(stream AS BLOB) AS stream, max(version) AS version FROM events';

/** Lists and erases the streams of a `SqliteEventStore`, for the command line. */
export class SqliteStreamCatalogue implements StreamCatalogue {
  constructor(private readonly database: DatabaseSync) {}

  async *streams(): AsyncGenerator<CataloguedStream> {
    yield* this.#execute(`${SELECT} GROUP BY events.stream`).map(cataloguedStream);
  }

  async find(stream: StreamName): Promise<CataloguedStream | undefined> {
    const rows = this.#execute(`${SELECT} WHERE events.stream = ? GROUP BY events.stream`, stream);
    return rows.map(cataloguedStream)[0];
  }

  /** A failed COMMIT of a single statement changes nothing, so its outcome is known. */
  async erase(stream: StreamName): Promise<number> {
    return this.#execute('DELETE FROM events WHERE stream = ? RETURNING version', stream).length;
  }

  #execute(sql: string, ...names: StreamName[]): Record<string, unknown>[] {
    try {
      return this.database.prepare(sql).all(...names);
    } catch (error) {
      throw unavailable(error);
    }
  }
}

function cataloguedStream({ stream, version }: Record<string, unknown>): CataloguedStream {
  const name = Buffer.from(stream as Uint8Array).toString() as StreamName;
  return { stream: name, version: Number(version) };
}
