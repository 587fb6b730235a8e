import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { it } from 'node:test';
import { system } from 'plant-store/adapters/system';
import { Aggregates, streamOf } from 'plant-store/event-sourcing';
import { orderDecider } from './order.js';
import { countOrders } from './read-model.js';
import { codec, openStore } from './store.js';

it('Orders are counted by their status, those before the start and one that was just paid', async () => {
  const opened = await openStore(`orders-${randomUUID()}`);
  const orders = new Aggregates(orderDecider, { ...system(), store: opened.store, codec });
  const [one, other] = [streamOf('orders', '1'), streamOf('orders', '2')];
  const lines = [{ article: 'pen', quantity: 3, price: 10 }];
  for (const order of [one, other]) await orders.execute(order, { type: 'PlaceOrder', lines });

  const { projection, count } = countOrders(opened);
  await projection.caughtUp();
  assert.deepEqual([count('placed'), count('paid')], [2, 0]);

  await orders.execute(one, { type: 'PayOrder', amount: 30 });
  const head = await orders.query(one, (_, head) => head);
  assert.equal(await projection.waitFor(one, head), true);
  assert.deepEqual([count('placed'), count('paid')], [1, 1]);

  await projection.close();
  await opened.close?.();
});
