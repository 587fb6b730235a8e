import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { streamOf } from 'plant-store/event-sourcing';
import { examplesOf } from 'plant-store/testing';
import { ordersApp } from './http.js';
import { openStore } from './open-store.js';
import { type OrderEvent, orderKind } from './order.js';
import { countOrders } from './read-model.js';

const lines = [{ article: 'pen', quantity: 3, price: 10 }];
const place = (price: number) =>
  ({ type: 'PlaceOrder', lines: [{ ...lines[0]!, price }] }) as const;
const pay = (amount: number) => ({ type: 'PayOrder', amount }) as const;
const added: OrderEvent = { type: 'LineAdded', ...lines[0]! };
const placed: OrderEvent = { type: 'OrderPlaced', total: 30 };

describe('An order', () => {
  const { given } = examplesOf(orderKind);
  it('records its lines and their total', () => given().when(place(10)).then(added, placed));
  it('keeps its lines', () => given(added, placed).when(place(11)).thenRejected('order-placed'));
  it('rejects a fraction of a cent', () => given().when(place(0.1)).thenRejected('lines-invalid'));
  it('is paid in full', () => given(added, placed).when(pay(29)).thenRejected('amount-wrong'));
  it('is not paid before', () => given().when(pay(30)).thenRejected('order-unplaced'));
});

describe('Orders over HTTP', () => {
  const id = randomUUID();
  let opened: Awaited<ReturnType<typeof openStore>>;
  let orders: ReturnType<typeof ordersApp>;
  let server: import('node:http').Server;
  let url: string;
  before(async () => {
    opened = await openStore(`orders-${randomUUID()}`);
    orders = ordersApp(opened);
    server = orders.app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/orders`;
  });
  after(async () => {
    server.close();
    await orders.projection.close();
    await opened.close();
  });

  async function send(method: string, path: string, body?: object) {
    const init = body && {
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    };
    const answer = await fetch(`${url}${path}`, { method, ...init });
    return [answer.status, answer.status === 400 ? await answer.text() : await answer.json()];
  }

  it('are placed and paid, and a repeated request has the same answer', async () => {
    for (const _ of [1, 2])
      assert.deepEqual(await send('PUT', `/${id}`, lines), [200, { status: 'placed', lines }]);
    assert.deepEqual(await send('PUT', `/${id}/payment`, { amount: 29 }), [
      422,
      { error: 'amount-wrong' },
    ]);
    for (const _ of [1, 2])
      assert.deepEqual(await send('PUT', `/${id}/payment`, { amount: 30 }), [
        200,
        { status: 'paid', lines },
      ]);
    assert.deepEqual(await send('PUT', `/${id}`, []), [409, { error: 'order-paid' }]);
    assert.deepEqual(await send('GET', `/${id}`), [200, { status: 'paid', lines }]);
    assert.equal((await send('PUT', '/2', [{ article: 7 }]))[0], 400);
  });

  it('are counted by their status, also by a read model that begins later, and not once they are erased', async () => {
    await send('PUT', '/other', lines);
    await orders.projection.caughtUp();
    assert.deepEqual(await send('GET', ''), [200, { placed: 1, paid: 1 }]);
    const { projection, count } = countOrders(opened);
    const stream = streamOf('orders', id);
    assert.equal(
      await projection.waitFor(stream, (await opened.index!.head(stream))!, 10_000),
      true,
    );
    await opened.index!.erase(stream);
    await projection.caughtUp();
    assert.deepEqual([count('paid'), count('unplaced')], [0, 0]);
    await projection.close();
  });
});
