import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import type { Pool } from 'pg';
import { MemoryEventStore } from 'plant-store/adapters/memory';
import { system } from 'plant-store/adapters/system';
import {
  Aggregates,
  type CheckpointWrite,
  type OpenEventStore,
  streamOf,
} from 'plant-store/event-sourcing';
import { checkpointStoreContract } from 'plant-store/testing';
import { openStore } from '../orders/open-store.js';
import { orderKind } from '../orders/order.js';
import { PostgresCheckpoint, createTables, openPool, transaction } from './checkpoints.js';
import { openSales } from './sales.js';

const url = process.env['POSTGRES_URL'] ?? '';

describe('Sales in PostgreSQL', { skip: !url && 'POSTGRES_URL is not set' }, () => {
  let pool: Pool;
  before(() => (pool = openPool(url)));
  after(() => pool.end());

  describe('have a checkpoint: ', () => {
    before(() => createTables(pool, ''));
    const checkpoints = (projection: string) => {
      const checkpoint = new PostgresCheckpoint(pool, projection);
      const save = (write: CheckpointWrite) =>
        transaction(pool, (client) => checkpoint.write(client, write));
      return Object.assign(checkpoint, { save });
    };
    const open = () => ({ store: new MemoryEventStore(), checkpoints });
    for (const { name, run } of checkpointStoreContract(open, { durable: true, shared: true }))
      it(name, run);
  });

  describe('of orders', () => {
    let opened: OpenEventStore;
    let orders: Aggregates;
    const projections: { close(): Promise<void> }[] = [];
    beforeEach(async () => {
      await pool.query(
        `DROP VIEW IF EXISTS sales; DROP TABLE IF EXISTS sales_1, sales_2, sales_version, positions, heads`,
      );
      opened = await openStore(`sales-${randomUUID()}`);
      orders = new Aggregates({ ...system(), store: opened.store });
    });
    afterEach(async () => {
      await Promise.all(projections.splice(0).map((projection) => projection.close()));
      await opened.close();
    });

    async function open(version: 1 | 2) {
      const sales = await openSales(pool, opened, version);
      projections.push(sales.projection);
      return sales;
    }
    const place = (id: string, price: number, ...quantities: number[]) => {
      const lines = quantities.map((quantity, at) => ({
        article: at % 2 ? 'ink' : 'pen',
        quantity,
        price,
      }));
      return orders.execute(orderKind, id, { type: 'PlaceOrder', lines });
    };
    const read = async () => (await pool.query('SELECT * FROM sales ORDER BY article')).rows;

    it('are applied once, by two instances that begin together, and are gone with an erased order', async () => {
      await place('a', 10, 1, 2, 4);
      const [one, two] = await Promise.all([open(1), open(1)]);
      await place('b\0', 1, Number.MAX_SAFE_INTEGER);
      await Promise.all([one.projection.caughtUp(), two.projection.caughtUp()]);
      await Promise.all([one.serve(), two.serve()]);
      const { head } = await place('c', 10, 8, 16);
      assert.equal(await one.projection.waitFor(streamOf('orders', 'c'), head, 10_000), true);
      assert.deepEqual(await read(), [
        { article: 'ink', quantity: '18' },
        { article: 'pen', quantity: String(2n ** 53n + 12n) },
      ]);
      for (const id of ['b\0', 'c']) await opened.index!.erase(streamOf('orders', id));
      await one.projection.caughtUp();
      assert.deepEqual(await read(), [
        { article: 'ink', quantity: '2' },
        { article: 'pen', quantity: '5' },
      ]);
    });

    it('have a version 2 that is built beside version 1, and then read instead', async () => {
      await place('a', 10, 1);
      const v1 = await open(1);
      await v1.projection.caughtUp();
      await v1.serve();
      const v2 = await open(2);
      await place('b', 10, 2);
      await Promise.all([v1.projection.caughtUp(), v2.projection.caughtUp()]);
      assert.deepEqual(await read(), [{ article: 'pen', quantity: '3' }]);
      await v2.serve();
      // An instance of version 1 that starts again.
      await v1.serve();
      await v1.drop();
      assert.deepEqual(await read(), [{ article: 'pen', quantity: '3', cents: '30' }]);
      const { rows } = await pool.query(
        'SELECT DISTINCT projection FROM heads UNION SELECT projection FROM positions',
      );
      assert.deepEqual(rows, [{ projection: 'sales_2' }]);
    });
  });
});
