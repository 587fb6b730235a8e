import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, describe, it } from 'node:test';
import { openApp } from './http.js';

describe('Orders over HTTP', async () => {
  const app = await openApp('orders-test');
  after(() => app.close());
  const url = `/orders/${randomUUID()}`;
  const lines = [{ article: 'pen', quantity: 3, price: 10 }];

  async function send(method: 'GET' | 'PUT' | 'DELETE', path: string, payload?: object) {
    const response = await app.inject({ method, url: path, ...(payload && { payload }) });
    return [response.statusCode, response.json()];
  }

  it('are placed and paid, and a repeated request has the same response', async () => {
    for (const _ of [1, 2])
      assert.deepEqual(await send('PUT', url, lines), [200, { status: 'placed', lines }]);
    assert.deepEqual(await send('PUT', `${url}/payment`, { amount: 29 }), [422, { error: 'amount-wrong' }]);
    for (const _ of [1, 2])
      assert.deepEqual(await send('PUT', `${url}/payment`, { amount: 30 }), [200, { status: 'paid', lines }]);
    assert.deepEqual(await send('DELETE', url), [409, { error: 'order-paid' }]);
    assert.deepEqual(await send('GET', url), [200, { status: 'paid', lines }]);
  });

  it('are refused with 400 if the body or the id is none', async () => {
    const [line] = lines;
    for (const wrong of [{ quantity: '3' }, { price: 0.1 }, { color: 'blue' }])
      assert.equal((await send('PUT', url, [{ ...line, ...wrong }]))[0], 400);
    assert.equal((await send('GET', '/orders/'))[0], 400);
  });
});
