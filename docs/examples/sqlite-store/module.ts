/** For the service and its command line: after `npm run build`, `EVENT_STORE` names its compiled file. */
import { DatabaseSync } from 'node:sqlite';
import type { OpenEventStore } from 'plant-store/event-sourcing';
import { SqliteStreamArchive } from './archive.js';
import { SqliteStreamCatalogue } from './catalogue.js';
import { SqliteFeed } from './feed.js';
import { SqliteSnapshotStore } from './snapshots.js';
import { SqliteEventStore } from './store.js';

export function openEventStore(): OpenEventStore {
  const database = new DatabaseSync(process.env['SQLITE_FILE'] ?? 'plants.db');
  return {
    store: new SqliteEventStore(database),
    catalogue: new SqliteStreamCatalogue(database),
    snapshots: new SqliteSnapshotStore(database),
    archive: new SqliteStreamArchive(database),
    feed: new SqliteFeed(database),
    async check() {
      database.exec('SELECT 1 FROM events LIMIT 1');
      return { writes: true };
    },
    close: () => database.close(),
  };
}
