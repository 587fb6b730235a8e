/**
 * Serves the page.
 *
 *   PLANT_USER  the user; `gardener` by default
 *   REDIS_URL   where the plants are; in memory by default
 *   PORT        0, the default, selects a free port
 */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { MemoryEventStore } from 'plant-store/adapters/memory';
import { parseUser } from 'plant-store/application';
import { liveServer } from './live.js';

const user = parseUser(process.env['PLANT_USER'] ?? 'gardener');
if (user === undefined) throw new Error('PLANT_USER must have 1 to 255 characters');
const url = process.env['REDIS_URL'];
const { store, close } = url ? await openRedis(url) : { store: new MemoryEventStore(), close() {} };

const server = liveServer(store, user).listen(Number(process.env['PORT'] ?? 0), '127.0.0.1');
await once(server, 'listening');
console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);

process.once('SIGTERM', () => {
  server.close(close);
  server.closeAllConnections();
});

/** Needs the package ioredis. */
async function openRedis(url: string) {
  const { openRedisEventStore } = await import('plant-store/adapters/redis');
  return openRedisEventStore({ url });
}
