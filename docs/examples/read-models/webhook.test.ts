import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { openPlants } from './plants.js';
import { sendEvents } from './webhook.js';

describe('A webhook', () => {
  let plants: ReturnType<typeof openPlants>;
  let receiver: Server;
  let url: string;
  /** User and version of each event, and its key. */
  let received: string[];
  let keys: Set<unknown>;
  let status: number;
  beforeEach(async () => {
    plants = openPlants();
    [received, keys, status] = [[], new Set(), 204];
    receiver = createServer(async (request, response) => {
      const { user, version } = (await json(request)) as { user: string; version: number };
      received.push(`${user} ${version}`);
      keys.add(request.headers['idempotency-key']);
      response.writeHead(status).end();
    }).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  });
  afterEach(() => {
    receiver.close();
    receiver.closeAllConnections();
  });

  it('receives the events that follow its first start, in the order of each user', async () => {
    await plants.create('alice', '1');
    const sender = sendEvents(plants.store, url);
    await sender.caughtUp();
    await plants.create('alice', '2');
    await plants.create('bob', '1');
    await sender.waitFor(...(await plants.remove('alice', '2')));
    assert.deepEqual(
      received.filter((each) => each.startsWith('alice')),
      ['alice 2', 'alice 3'],
    );
    assert.equal(received.length, 3);
    await sender.close();
  });

  it('continues after a restart', async () => {
    const first = sendEvents(plants.store, url, 'beginning');
    await first.waitFor(...(await plants.create('alice', '1')));
    await first.close();
    await plants.create('alice', '2');
    const second = sendEvents(plants.store, url, 'beginning');
    await second.caughtUp();
    assert.deepEqual(received, ['alice 1', 'alice 2']);
    await second.close();
  });

  it('receives an event again until it accepts it, with the same key', async () => {
    const { error } = console;
    console.error = () => {};
    status = 503;
    const sender = sendEvents(plants.store, url, 'beginning');
    const last = await plants.create('alice', '1');
    while (received.length < 2) await once(receiver, 'request');
    status = 204;
    sender.retry();
    await sender.waitFor(...last);
    assert.deepEqual(new Set(received), new Set(['alice 1']));
    assert.equal(keys.size, 1);
    await sender.close();
    console.error = error;
  });
});
