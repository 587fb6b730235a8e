/** Tests what the contract cannot: how this store fails. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { commitIds } from 'plant-store/adapters/system';
import {
  BEGINNING,
  type EncodedEvent,
  type EventStore,
  OutcomeUnknown,
  StoreUnavailable,
  UnreadableHistory,
  parseStreamName,
} from 'plant-store/event-sourcing';
import { NdjsonEventStore } from './store.js';

const fern: EncodedEvent = { type: 'PlantCreated', data: '{"id":1,"name":"Farn 🌿"}' };
const moss: EncodedEvent = { type: 'PlantCreated', data: '{"id":2,"name":"Moss"}' };

const alice = parseStreamName('alice')!;
const mintCommit = commitIds();

describe('NdjsonEventStore', () => {
  let directory: string;
  let path: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'ndjson-store-'));
    path = join(directory, 'events.ndjson');
  });
  afterEach(() => rm(directory, { recursive: true }));

  it('removes the part of the last line that a crash left, and continues', async () => {
    const first = await withStore(path, (store) => add(store, fern));
    const whole = (await stat(path)).size;
    await withStore(path, (store) => store.append(alice, first, 'second', [fern, moss]));
    const bytes = await readFile(path);

    for (let length = whole; length < bytes.length; length++) {
      await writeFile(path, bytes.subarray(0, length));
      await withStore(path, async (store) => {
        assert.equal((await history(store)).length, 1, `torn at byte ${length}`);
        assert.equal((await store.append(alice, first, 'third', [moss])).status, 'appended');
      });
      await withStore(path, async (store) => assert.equal((await history(store)).length, 2));
    }
  });

  it('has every append that it acknowledged before it was killed', async () => {
    const script = `
      import { NdjsonEventStore } from ${JSON.stringify(new URL('./store.js', import.meta.url).href)};
      const store = await NdjsonEventStore.open(${JSON.stringify(path)});
      const event = ${JSON.stringify(fern)};
      for (let head = ${JSON.stringify(BEGINNING)}; ;) {
        ({ head } = await store.append('alice', head, 'commit ' + head.version, [event, event]));
        process.stdout.write(head.version + '\\n');
      }`;
    for (const delay of [1, 30]) {
      await rm(path, { force: true });
      const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'pipe' });
      let output = '';
      child.stdout.on('data', (chunk: Buffer) => {
        if (output === '') setTimeout(() => child.kill('SIGKILL'), delay);
        output += chunk.toString();
      });
      await once(child, 'close');
      const acknowledged = Number(output.split('\n').at(-2));
      assert(acknowledged > 0);
      await withStore(path, async (store) => {
        const { length } = await history(store);
        assert(
          length >= acknowledged && length % 2 === 0,
          `${acknowledged} acknowledged, ${length} recorded`,
        );
      });
    }
  });

  it('refuses a second opener, and accepts the next one', async () => {
    await withStore(path, async () => {
      await assert.rejects(NdjsonEventStore.open(path), /has this store open/);
      const other = `import(${JSON.stringify(new URL('./store.js', import.meta.url).href)})
        .then((m) => m.NdjsonEventStore.open(${JSON.stringify(path)})).catch((e) => console.log(e.message))`;
      assert.match(execFileSync(process.execPath, ['-e', other]).toString(), /has this store open/);
    });
    await withStore(path, async () => {});
  });

  for (const strange of [
    '{"hello":"there"}',
    'x',
    append(fern).replace(',"commit"', ', "commit"'),
    append({ ...fern, data: 7 as unknown as string }),
    JSON.stringify({ ...JSON.parse(append(fern)), expected: { version: 7, commit: 'x' } }),
  ]) {
    it(`refuses a file with a line that it did not write, and names the line: ${strange}`, async () => {
      await withStore(path, (store) => add(store, fern));
      await writeFile(path, `${strange}\n`, { flag: 'a' });
      await assert.rejects(NdjsonEventStore.open(path), (error) => {
        return error instanceof UnreadableHistory && error.message.startsWith('line 2 ');
      });
    });
  }

  it('removes a line that could not be written completely, and has then written nothing', async () => {
    await withStore(path, async (store) => {
      const head = await add(store, fern);
      await failing('appendFile', async () => {
        await assert.rejects(store.append(alice, head, 'second', [moss]), StoreUnavailable);
      });
      assert.equal((await store.append(alice, head, 'third', [moss])).status, 'appended');
    });
    await withStore(path, async (store) => assert.equal((await history(store)).length, 2));
  });

  it('reports an unknown outcome after a failed sync, and refuses all calls until it is opened again', async () => {
    await withStore(path, async (store) => {
      const head = await add(store, fern);
      await failing('datasync', async () => {
        await assert.rejects(store.append(alice, head, 'second', [moss]), OutcomeUnknown);
      });
      await assert.rejects(store.append(alice, head, 'second', [moss]), StoreUnavailable);
      await assert.rejects(store.read(alice, head), StoreUnavailable);
    });
    await withStore(path, async (store) => assert.equal((await history(store)).length, 2));
  });
});

/** A line for another stream, valid except for `event`. */
function append(event: EncodedEvent): string {
  return JSON.stringify({ stream: 'bob', expected: BEGINNING, commit: 'first', events: [event] });
}

async function withStore<T>(path: string, use: (store: EventStore) => Promise<T>): Promise<T> {
  const store = await NdjsonEventStore.open(path);
  return use(store).finally(() => store.close());
}

async function add(store: EventStore, event: EncodedEvent) {
  const result = await store.append(alice, BEGINNING, mintCommit(), [event]);
  assert(result.status === 'appended');
  return result.head;
}

async function history(store: EventStore) {
  const result = await store.read(alice, BEGINNING);
  assert(result.status === 'read');
  return result.events;
}

/** Makes this method of every file fail during `work`, after an append has written a part of its line. */
async function failing(method: 'appendFile' | 'datasync', work: () => Promise<void>): Promise<void> {
  const any = await open('/dev/null');
  const prototype = Object.getPrototypeOf(any) as typeof any;
  await any.close();
  const genuine = prototype[method] as (this: unknown, data: Buffer) => Promise<void>;
  Object.assign(prototype, {
    async [method](data?: Buffer) {
      if (data) await genuine.call(this, data.subarray(0, 5));
      throw new Error('the disk is full');
    },
  });
  await work().finally(() => Object.assign(prototype, { [method]: genuine }));
}
