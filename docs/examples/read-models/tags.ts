/** The number of plants with each tag, over all users, in SQLite: each event has its effect exactly once. */
import type { DatabaseSync } from 'node:sqlite';
import { system } from 'plant-store/adapters/system';
import { plantCodec } from 'plant-store/application';
import { type ProjectedStore, type Projection, partsOf, project } from 'plant-store/event-sourcing';
import type { PlantEvent } from 'plant-store/domain';
import { SqliteCheckpoints } from './checkpoints.js';

export interface Tags {
  /** The tags, the most frequent first. */
  count(): readonly { readonly tag: string; readonly plants: number }[];
  readonly projection: Projection<PlantEvent>;
}

export function projectTags(store: ProjectedStore, database: DatabaseSync): Tags {
  const checkpoint = new SqliteCheckpoints(database);
  database.exec(`
    CREATE TABLE IF NOT EXISTS plants (stream TEXT, id TEXT, tag TEXT, PRIMARY KEY (stream, id)) STRICT;
    CREATE INDEX IF NOT EXISTS plants_with_tag ON plants (tag) WHERE tag IS NOT NULL`);
  const restart = database.prepare('DELETE FROM plants WHERE stream = ?');
  const create = database.prepare('INSERT INTO plants VALUES (?, ?, ?)');
  const remove = database.prepare('DELETE FROM plants WHERE stream = ? AND id = ?');
  // Bytes: Node 22 reads a text only up to its first NUL.
  const count = database.prepare(`
    SELECT CAST(tag AS BLOB) AS tag, count(*) AS plants FROM plants WHERE tag IS NOT NULL
    GROUP BY plants.tag ORDER BY plants DESC, plants.tag`);

  const projection = project<PlantEvent>(store, {
    codec: plantCodec,
    ...system(),
    checkpoint,
    follows: (stream) => partsOf(stream).category === 'plants',
    apply({ slices, checkpoint: write }) {
      checkpoint.transaction(write, () => {
        for (const { stream, restarts, events } of slices) {
          if (restarts) restart.run(stream);
          for (const { event } of events)
            switch (event.type) {
              case 'PlantCreated':
                create.run(stream, event.id, event.plant.tag ?? null);
                break;
              case 'PlantDeleted':
                remove.run(stream, event.id);
                break;
              default:
                event satisfies never;
            }
        }
      });
    },
    lostTail: ({ bucket }) => console.warn(`the store has lost its last commits in bucket ${bucket}`),
    observer: {
      stopped: ({ stream, version, error }) =>
        console.error(`stopped at event ${version} of ${stream}:`, error),
    },
  });
  return {
    projection,
    count: () =>
      count.all().map(({ tag, plants }) => ({
        tag: Buffer.from(tag as Uint8Array).toString(),
        plants: Number(plants),
      })),
  };
}
