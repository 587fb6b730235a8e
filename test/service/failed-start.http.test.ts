import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, type Server, createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { pino } from 'pino';
import { freePort } from '../support/redis/free-port';
import { rejection } from '../support/rejection';
import { temporaryDirectory } from '../support/temporary-directory';
import { startWatched } from '../support/watched-service';

/** More than the token file needs to be polled. */
const POLLED_MS = 400;

describe('A service that cannot start', () => {
  const path = temporaryDirectory();
  let other: Server;
  let PORT: string;

  beforeEach(async () => {
    other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    PORT = String((other.address() as AddressInfo).port);
  });
  afterEach(() => other.close());

  it('because PORT is taken does not listen on ADMIN_PORT, which would keep its process alive', async () => {
    const adminPort = await freePort();
    await rejection(startWatched({ PORT, ADMIN_PORT: String(adminPort) }));
    const free = createServer().listen(adminPort, '127.0.0.1');
    await once(free, 'listening');
    free.close();
  });

  for (const [why, environment] of [
    ['PORT is taken', () => ({ PORT })],
    ['the module of EVENT_STORE is missing', () => ({ EVENT_STORE: path('missing.js') })],
  ] as const) {
    it(`because ${why} reads its token file no more`, async () => {
      const log: string[] = [];
      const AUTH_TOKENS_FILE = path('tokens.json');
      const write = (users: unknown[]) =>
        writeFileSync(AUTH_TOKENS_FILE, JSON.stringify({ users }), { mode: 0o600 });
      write([]);
      await rejection(
        startWatched(
          { ...environment(), AUTH_TOKENS_FILE },
          { log: pino({}, { write: (line) => void log.push(line) }) },
        ),
      );
      expect(log.join()).to.include('read AUTH_TOKENS_FILE');
      log.length = 0;
      // Another length, so that the file has changed whatever the resolution of its times.
      write([{ name: 'ada', tokens: [] }]);
      await pause(POLLED_MS);
      expect(log).to.deep.equal([]);
    });
  }
});
