/**
 * The checkpoint of a projection in PostgreSQL. A read model in the same database calls `write` in
 * the transaction of its own rows, so that each event is applied exactly once.
 */
import { Pool, type PoolClient } from 'pg';
import type * as port from 'plant-store/event-sourcing';
import { CheckpointConflict, START } from 'plant-store/event-sourcing';

/** Names and commit ids are bytes, because a text of PostgreSQL cannot contain U+0000. */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS positions (
    projection text, bucket int, revision bigint NOT NULL, epoch text NOT NULL, sequence bigint NOT NULL,
    PRIMARY KEY (projection, bucket)
  );
  CREATE TABLE IF NOT EXISTS heads (
    projection text, bucket int, stream bytea, version bigint NOT NULL, commit_id bytea NOT NULL,
    PRIMARY KEY (projection, bucket, stream)
  );`;

const BUCKET = 'projection = $1 AND bucket = $2';
const ADD_POSITION = 'INSERT INTO positions VALUES ($1, $2, 0, $3, $4) ON CONFLICT DO NOTHING';
/**
 * The lock lets one writer of a bucket in at a time, and the next one sees what it has committed.
 */
const LOCK_POSITION = `SELECT revision FROM positions WHERE ${BUCKET} FOR UPDATE`;
const MOVE = `UPDATE positions SET revision = revision + 1, epoch = $3, sequence = $4 WHERE ${BUCKET}`;
const SET_HEADS = `
  INSERT INTO heads SELECT $1, $2, * FROM unnest($3::bytea[], $4::bigint[], $5::bytea[])
  ON CONFLICT (projection, bucket, stream) DO UPDATE SET version = excluded.version, commit_id = excluded.commit_id`;
const REMOVE_HEADS = `DELETE FROM heads WHERE ${BUCKET} AND stream = ANY ($3)`;

export class PostgresCheckpoint implements port.CheckpointReader {
  constructor(
    private readonly pool: Pool,
    private readonly projection: string,
  ) {}

  async load(bucket: number, streams: readonly port.StreamName[]): Promise<port.Progress> {
    const place = [this.projection, bucket];
    const { rows } = await this.pool.query(`SELECT * FROM positions WHERE ${BUCKET}`, place);
    // Without a row, nothing was applied. A bigint is read as a text.
    const { revision, epoch, sequence } = rows[0] ?? { revision: 0, ...START };
    const found = await this.pool.query(
      `SELECT * FROM heads WHERE ${BUCKET} AND stream = ANY ($3)`,
      [...place, streams.map(bytes)],
    );
    const heads = found.rows.map(({ stream, version, commit_id }) => {
      return [
        String(stream) as port.StreamName,
        { version: Number(version), commit: String(commit_id) },
      ] as const;
    });
    const position = { epoch, sequence: Number(sequence) };
    return { revision: Number(revision), position, heads: new Map(heads) };
  }

  async *streams(bucket: number): AsyncGenerator<port.StreamName> {
    const { rows } = await this.pool.query(`SELECT stream FROM heads WHERE ${BUCKET}`, [
      this.projection,
      bucket,
    ]);
    for (const { stream } of rows) yield String(stream) as port.StreamName;
  }

  /**
   * Writes the checkpoint of a batch in a transaction. Throws CheckpointConflict, and then the
   * transaction must not be committed.
   */
  async write(
    client: PoolClient,
    { bucket, expectedRevision, position, heads }: port.CheckpointWrite,
  ): Promise<void> {
    const place = [this.projection, bucket];
    await client.query(ADD_POSITION, [...place, START.epoch, START.sequence]);
    const { rows } = await client.query(LOCK_POSITION, place);
    if (Number(rows[0].revision) !== expectedRevision) throw new CheckpointConflict();
    if (position) await client.query(MOVE, [...place, position.epoch, position.sequence]);
    const [set, removed] = [
      [...heads].filter(([, head]) => head),
      [...heads].filter(([, head]) => !head),
    ];
    const columns = [
      set.map(([stream]) => bytes(stream)),
      set.map(([, head]) => head!.version),
      set.map(([, head]) => bytes(head!.commit)),
    ];
    await client.query(SET_HEADS, [...place, ...columns]);
    await client.query(REMOVE_HEADS, [...place, removed.map(([stream]) => bytes(stream))]);
  }

  /** Forgets the checkpoint of a projection that has ended. */
  async drop(client: PoolClient): Promise<void> {
    for (const table of ['positions', 'heads'])
      await client.query(`DELETE FROM ${table} WHERE projection = $1`, [this.projection]);
  }
}

export const bytes = (text: string) => Buffer.from(text);

/** @param schema creates tables that may exist already, in addition to those of the checkpoint. */
export async function createTables(pool: Pool, schema: string): Promise<void> {
  // Several commands in one query are one transaction. The lock is for instances that start at the
  // same moment, because IF NOT EXISTS does not keep one of two from an error.
  await pool.query(`SELECT pg_advisory_xact_lock(80); ${SCHEMA} ${schema}`);
}

export function openPool(connectionString: string): Pool {
  const pool = new Pool({
    connectionString,
    // Without these bounds, a frozen server would be awaited forever, and a frozen instance would
    // keep its lock forever.
    connectionTimeoutMillis: 5000,
    query_timeout: 10_000,
    idle_in_transaction_session_timeout: 10_000,
  });
  // The loss of a connection. What was using it gets an error, too, but without these listeners the
  // process would end.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/**
 * Commits all that `work` does, or nothing of it. If it rejects because the reply to COMMIT was
 * lost, the transaction may be committed: the projection then finds that out from the checkpoint.
 */
export async function transaction(
  pool: Pool,
  work: (client: PoolClient) => Promise<void>,
): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    await work(client);
    await client.query('COMMIT');
  } catch (error) {
    // Closes the connection: PostgreSQL rolls back what was not committed.
    client.release(true);
    throw error;
  }
  client.release();
}
