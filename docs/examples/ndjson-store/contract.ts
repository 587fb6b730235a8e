import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { eventStoreContract } from 'plant-store/testing';
import { NdjsonEventStore } from './store.js';

describe('NdjsonEventStore keeps the contract of an event store', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'ndjson-store-'));
  after(() => rm(directory, { recursive: true }));

  async function open() {
    const store = await NdjsonEventStore.open(join(directory, 'events.ndjson'), 3);
    return { store, close: () => store.close() };
  }

  for (const { name, run } of eventStoreContract(open, { pageSize: 3, durable: true })) it(name, run);
});
