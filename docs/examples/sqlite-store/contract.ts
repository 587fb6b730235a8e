import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, it } from 'node:test';
import { eventStoreContract, streamCatalogueContract } from 'plant-store/testing';
import { SqliteStreamCatalogue } from './catalogue.js';
import { SqliteEventStore } from './store.js';

describe('A store in SQLite keeps the contracts', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'sqlite-store-'));
  after(() => rm(directory, { recursive: true }));

  /** Whether the next COMMIT is executed and its reply lost, as if the connection to a server broke then. */
  let losesReply = false;
  class Database extends DatabaseSync {
    override exec(sql: string): void {
      super.exec(sql);
      if (sql !== 'COMMIT' || !losesReply) return;
      losesReply = false;
      throw new Error('the reply was lost');
    }
  }
  const loseReply = () => void (losesReply = true);

  function open() {
    losesReply = false;
    const database = new Database(join(directory, 'plants.db'));
    const store = new SqliteEventStore(database, 3);
    return { store, catalogue: new SqliteStreamCatalogue(database), close: () => database.close() };
  }

  const cases = eventStoreContract(open, { pageSize: 3, durable: true, shared: true, loseReply });
  for (const { name, run } of cases) it(name, run);

  const catalogueCases = streamCatalogueContract(open, { durable: true, shared: true, manyStreams: 100 });
  for (const { name, run } of catalogueCases) it(name, run);
});
