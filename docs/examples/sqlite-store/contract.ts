import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, it } from 'node:test';
import type { StreamName } from 'plant-store/event-sourcing';
import {
  eventStoreContract,
  snapshotStoreContract,
  streamArchiveContract,
  streamCatalogueContract,
} from 'plant-store/testing';
import { SqliteStreamArchive } from './archive.js';
import { SqliteStreamCatalogue } from './catalogue.js';
import { SqliteFeed } from './feed.js';
import { SqliteSnapshotStore } from './snapshots.js';
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

  function change(sql: string, ...names: StreamName[]): void {
    const database = new Database(join(directory, 'plants.db'));
    database.prepare(sql).run(...names);
    database.close();
  }
  const damage = () => change('UPDATE snapshots SET chunks = substr(chunks, 1, length(chunks) / 2)');
  const loseEvents = (stream: StreamName) => change('DELETE FROM events WHERE stream = ?', stream);

  function open() {
    losesReply = false;
    const database = new Database(join(directory, 'plants.db'));
    return {
      store: new SqliteEventStore(database, 3, 200),
      catalogue: new SqliteStreamCatalogue(database),
      snapshots: new SqliteSnapshotStore(database),
      archive: new SqliteStreamArchive(database),
      feed: new SqliteFeed(database),
      close: () => database.close(),
    };
  }

  const options = { durable: true, shared: true };
  const cases = [
    ...eventStoreContract(open, { ...options, pageSize: 3, feedLength: 200, loseReply, loseEvents }),
    ...streamCatalogueContract(open, { ...options, manyStreams: 100 }),
    ...snapshotStoreContract(open, { ...options, damage }),
    ...streamArchiveContract(open, options),
  ];
  for (const { name, run } of cases) it(name, run);
});
