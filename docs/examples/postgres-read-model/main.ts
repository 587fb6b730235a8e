/**
 * Keeps the sales of the orders in Redis at REDIS_URL, in PostgreSQL at POSTGRES_URL, until
 * SIGTERM.
 */
import { setTimeout } from 'node:timers/promises';
import { openStore } from '../orders/open-store.js';
import { openPool } from './checkpoints.js';
import { openSales } from './sales.js';

const opened = await openStore('orders');
const pool = openPool(process.env['POSTGRES_URL']!);
const { projection, serve } = await openSales(pool, opened, 2);
const caughtUp = serveOnceCaughtUp();

process.once('SIGTERM', () => void close());

async function serveOnceCaughtUp(): Promise<void> {
  for (;;)
    try {
      // False once it is closed.
      if (await projection.caughtUp()) await serve();
      return;
    } catch {
      // An outage, which the projection reports and outlives.
      await setTimeout(1000);
    }
}

async function close(): Promise<void> {
  await projection.close();
  await caughtUp;
  await pool.end();
  await opened.close();
}
