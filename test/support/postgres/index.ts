/** Provides suites with PostgreSQL servers of their own. */
import { Client } from 'pg';
import { pendingIf } from '../programs';
import { freePort } from '../ports';
import { PostgresServer, findPrograms } from './server';

const MISSING =
  'no postgres is on the PATH or in /usr/lib/postgresql (Debian: apt-get install postgresql)';

/** Runs a statement on its own connection. */
export async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client(url);
  // If the connection breaks, the query rejects.
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

/**
 * A suite whose tests start servers of their own. The servers stop after the test. Without
 * PostgreSQL it is pending, or fails if CI is set.
 */
export function describePostgres(
  title: string,
  body: (startPostgres: () => Promise<PostgresServer>) => void,
): void {
  describe(title, () => {
    const running: PostgresServer[] = [];
    pendingIf(() => (findPrograms() === undefined ? MISSING : undefined));
    body(async () => {
      const server = new PostgresServer(findPrograms()!, await freePort());
      running.push(server);
      await server.start();
      return server;
    });
    afterEach(() => Promise.all(running.splice(0).map((server) => server.stop())));
  });
}
