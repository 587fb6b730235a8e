import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, it } from 'node:test';
import {
  checkpointStoreContract,
  eventStoreContract,
  streamIndexContract,
} from 'plant-store/testing';
import { SqliteCheckpoints } from './checkpoints.js';
import { SqliteEventStore } from './store.js';

describe('A store in SQLite', () => {
  const directory = mkdtempSync(join(tmpdir(), 'sqlite-store-'));
  after(() => rmSync(directory, { recursive: true }));

  /**
   * Whether the next COMMIT is executed and its reply lost, as if the connection to a server broke
   * then.
   */
  let losesReply = false;
  class Database extends DatabaseSync {
    override exec(sql: string): void {
      super.exec(sql);
      if (sql !== 'COMMIT' || !losesReply) return;
      losesReply = false;
      throw new Error('the reply was lost');
    }
  }

  const file = join(directory, 'plants.db');

  function open(name = file) {
    losesReply = false;
    const database = new Database(name);
    const store = new SqliteEventStore(database, 3);
    const checkpoints = (projection: string) => new SqliteCheckpoints(database, projection);
    return { store, index: store, checkpoints, close: () => database.close() };
  }

  const options = {
    durable: true,
    shared: true,
    pageSize: 3,
    loseReply: () => void (losesReply = true),
    empty: () => rmSync(file),
    openBeside: () => open(join(directory, 'beside.db')),
  };
  const contracts = [eventStoreContract, streamIndexContract, checkpointStoreContract];
  for (const contract of contracts)
    for (const { name, run } of contract(() => open(), options)) it(name, run);
});
