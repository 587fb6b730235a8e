/**
 * Provides PostgreSQL to suites. A suite that kills servers starts its own. All others share one.
 */
import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { pendingIf } from '../programs';
import { imageIsHere, startContainer } from '../redis/docker';
import { freePort } from '../redis/free-port';
import { sharedServer } from '../shared-server';
import { PostgresServer, findPrograms } from './server';

/**
 * A database of the shared PostgreSQL that only this suite uses. The URL is set only in hooks and
 * tests.
 */
export interface SharedPostgres {
  url: string;
}

const MISSING =
  'no postgres is on the PATH or in /usr/lib/postgresql (Debian: apt-get install postgresql)';

async function startServer(): Promise<PostgresServer> {
  const programs = findPrograms();
  if (programs === undefined) throw new Error(MISSING);
  const server = new PostgresServer(programs, await freePort());
  await server.start();
  return server;
}

const openShared = sharedServer('PostgreSQL', {
  POSTGRES_URL: async () => {
    if (!process.env.POSTGRES_URL) throw new Error('it is not set');
    return [process.env.POSTGRES_URL];
  },
  'testcontainers, in Docker': startInDocker,
  'the postgres of this machine': async () => {
    const server = await startServer();
    return [server.url, () => server.stop()];
  },
});

async function startInDocker(): Promise<[string, () => Promise<unknown>]> {
  const image = process.env.POSTGRES_IMAGE || 'postgres:17-alpine';
  if (!imageIsHere(image)) throw new Error(`no Docker daemon has the image ${image}`);
  // The server needs a password, because its port is published on all addresses of this machine.
  const password = randomUUID();
  return startContainer({
    image,
    port: 5432,
    started: 'ready to accept connections',
    urlOf: (host, port) => `postgres://postgres:${password}@${host}:${port}/postgres`,
    ask: (url) => query(url, 'SELECT'),
    configure: (container) => container.withEnvironment({ POSTGRES_PASSWORD: password }),
  });
}

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

/** A suite with its own database. Without PostgreSQL it is pending, or fails if CI is set. */
export function describePostgres(title: string, body: (postgres: SharedPostgres) => void): void {
  describe(title, () => {
    const postgres = {} as SharedPostgres;
    const name = `test_${randomUUID().replaceAll('-', '')}`;
    let server: string | undefined;
    pendingIf(async () => {
      const found = await openShared();
      if ('reason' in found) return found.reason;
      await query(found.url, `CREATE DATABASE ${name}`);
      server = found.url;
      postgres.url = Object.assign(new URL(found.url), { pathname: name }).href;
      return undefined;
    });
    body(postgres);
    after(() => server && query(server, `DROP DATABASE ${name} WITH (FORCE)`));
  });
}

/** A suite whose tests start and kill servers of their own. The servers stop after the test. */
export function describeOwnPostgres(
  title: string,
  body: (startPostgres: () => Promise<PostgresServer>) => void,
): void {
  describe(title, () => {
    const running: PostgresServer[] = [];
    pendingIf(() => (findPrograms() === undefined ? MISSING : undefined));
    body(async () => {
      const server = await startServer();
      running.push(server);
      return server;
    });
    afterEach(() => Promise.all(running.splice(0).map((server) => server.stop())));
  });
}
