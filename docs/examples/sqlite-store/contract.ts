import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, it } from 'node:test';
import { eventStoreContract } from 'plant-store/testing';
import { SqliteEventStore } from './store.js';

describe('SqliteEventStore keeps the contract of an event store', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'sqlite-store-'));
  after(() => rm(directory, { recursive: true }));

  function open() {
    const database = new DatabaseSync(join(directory, 'plants.db'));
    return { store: new SqliteEventStore(database, 3), close: () => database.close() };
  }

  const cases = eventStoreContract(open, { pageSize: 3, durable: true, shared: true });
  for (const { name, run } of cases) it(name, run);
});
