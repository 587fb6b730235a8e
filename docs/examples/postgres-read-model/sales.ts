/**
 * What was sold of each article: a read model in PostgreSQL, to which each event is applied exactly
 * once.
 */
import type { Pool } from 'pg';
import { system } from 'plant-store/adapters/system';
import { type OpenEventStore, project } from 'plant-store/event-sourcing';
import { type OrderEvent, orderKind } from '../orders/order.js';
import { PostgresCheckpoint, bytes, createTables, transaction } from './checkpoints.js';

/** The columns of each version of the read model. Version 2 also has the turnover. */
const VERSIONS = { 1: ['quantity'], 2: ['quantity', 'cents'] } as const;

/**
 * Builds a version in a table of its own, beside the one that is read. Readers use the view
 * `sales`, whose version is in `sales_version`.
 */
export async function openSales(
  pool: Pool,
  opened: Pick<OpenEventStore, 'store' | 'index'>,
  version: keyof typeof VERSIONS,
) {
  const table = `sales_${version}`;
  const all = (sqlOf: (column: string) => string) => VERSIONS[version].map(sqlOf).join(', ');
  const schema = `
    CREATE TABLE IF NOT EXISTS ${table} (
      stream bytea, article text, ${all((column) => `${column} numeric NOT NULL`)}, PRIMARY KEY (stream, article)
    );
    CREATE TABLE IF NOT EXISTS sales_version (number int);
    INSERT INTO sales_version SELECT 0 WHERE NOT EXISTS (SELECT FROM sales_version);`;
  /**
   * In one statement, because each is a round trip. It may not meet the same row twice, so it adds
   * up lines of one article.
   */
  const add = `
    INSERT INTO ${table} AS sold SELECT stream, article, ${all((column) => `sum(${column})`)}
    FROM (
      SELECT *, quantity * price AS cents
      FROM unnest($1::bytea[], $2::text[], $3::numeric[], $4::numeric[]) AS line (stream, article, quantity, price)
    ) AS lines
    GROUP BY stream, article
    ON CONFLICT (stream, article) DO UPDATE SET ${all((column) => `${column} = sold.${column} + excluded.${column}`)}`;
  const remove = `DELETE FROM ${table} WHERE stream = ANY ($1)`;
  const view = `SELECT article, ${all((column) => `sum(${column}) AS ${column}`)} FROM ${table} GROUP BY article`;

  await createTables(pool, schema);
  const checkpoint = new PostgresCheckpoint(pool, table);
  const projection = project<OrderEvent>(opened, {
    ...system(),
    kinds: [orderKind],
    checkpoint,
    apply: ({ slices, checkpointWrite }) =>
      transaction(pool, async (client) => {
        // First, because it locks the bucket.
        await checkpoint.write(client, checkpointWrite);
        const restarted = slices.filter(({ restarts }) => restarts);
        await client.query(remove, [restarted.map(({ stream }) => bytes(stream))]);
        const lines = slices.flatMap(({ stream, events }) =>
          events.flatMap(({ event }) =>
            event.type === 'LineAdded' ? [{ stream: bytes(stream), ...event }] : [],
          ),
        );
        const columns = (['stream', 'article', 'quantity', 'price'] as const).map((name) =>
          lines.map((line) => line[name]),
        );
        await client.query(add, columns);
      }),
  });

  return {
    projection,

    /**
     * Lets readers have this version, unless they have a later one. To be called once the
     * projection has caught up.
     */
    serve: () =>
      transaction(pool, async (client) => {
        const newer = 'UPDATE sales_version SET number = $1 WHERE number < $1';
        if ((await client.query(newer, [version])).rowCount === 0) return;
        await client.query(`DROP VIEW IF EXISTS sales; CREATE VIEW sales AS ${view}`);
      }),

    /** Ends the version, once no instance builds it and nobody reads it. */
    async drop() {
      await projection.close();
      await transaction(pool, async (client) => {
        await client.query(`DROP TABLE ${table}`);
        await checkpoint.drop(client);
      });
    },
  };
}
