/** Tests what the contract cannot see: several processes, a crash, and what SQLite refuses. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { commitIds } from 'plant-store/adapters/system';
import {
  BEGINNING,
  type Head,
  OutcomeUnknown,
  StoreUnavailable,
  parseStreamName,
} from 'plant-store/event-sourcing';
import { SqliteStreamArchive } from './archive.js';
import { SqliteStreamCatalogue } from './catalogue.js';
import { openEventStore } from './module.js';
import { SqliteEventStore } from './store.js';

const fern = { type: 'PlantCreated', data: '{"id":1,"name":"Farn 🌿"}' };
const alice = parseStreamName('alice')!;
const mintCommit = commitIds();

describe('SqliteEventStore', () => {
  let directory: string;
  let file: string;
  let database: DatabaseSync;
  let store: SqliteEventStore;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'sqlite-store-'));
    file = join(directory, 'plants.db');
    database = new DatabaseSync(file);
    store = new SqliteEventStore(database);
  });
  afterEach(async () => {
    if (database.isOpen) database.close();
    await rm(directory, { recursive: true });
  });

  /** A process that appends two events at a time, and prints each version. It stops at `last`. */
  function writer(last: number): { readonly child: ChildProcess; readonly acknowledged: () => number[] } {
    const script = `
      import { DatabaseSync } from 'node:sqlite';
      import { commitIds } from 'plant-store/adapters/system';
      import { SqliteEventStore } from ${JSON.stringify(new URL('./store.js', import.meta.url).href)};
      const mintCommit = commitIds();
      const store = new SqliteEventStore(new DatabaseSync(${JSON.stringify(file)}));
      const event = ${JSON.stringify(fern)};
      for (let head = ${JSON.stringify(BEGINNING)}; head.version < ${last}; ) {
        const result = await store.append('alice', head, mintCommit(), [event, event]);
        if (result.status === 'appended') process.stdout.write(result.head.version + '\\n');
        const { version, commit } = result.head ?? result.events.at(-1);
        head = { version, commit };
      }`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.on('data', (chunk) => (output += String(chunk)));
    return { child, acknowledged: () => output.split('\n').slice(0, -1).map(Number) };
  }

  async function history() {
    const result = await store.read(alice, BEGINNING);
    assert(result.status === 'read');
    return result.events;
  }

  async function append(expected: Head = BEGINNING) {
    const result = await store.append(alice, expected, mintCommit(), [fern]);
    assert(result.status === 'appended');
    return result.head;
  }

  it('loses nothing and writes nothing twice if several processes append', async () => {
    const writers = [writer(200), writer(200), writer(200)];
    const ended = await Promise.all(writers.map(({ child }) => once(child, 'close')));
    assert.deepEqual(ended, Array(3).fill([0, null]));
    const versions = writers.flatMap(({ acknowledged }) => acknowledged());
    assert.deepEqual(
      versions.sort((a, b) => a - b),
      Array.from({ length: versions.length }, (_, index) => 2 * (index + 1)),
    );
    assert.equal((await history()).length, versions.at(-1));
  });

  it('has every append that a process acknowledged before it was killed', async () => {
    const { child, acknowledged } = writer(1_000_000);
    while (acknowledged().length < 20) await once(child.stdout!, 'data');
    child.kill('SIGKILL');
    await once(child, 'close');
    const { length } = await history();
    assert(length >= acknowledged().at(-1)! && length % 2 === 0);
  });

  it('is unavailable while another process writes, and has then written nothing', async () => {
    const head = await append();
    const other = new DatabaseSync(file);
    other.exec('BEGIN IMMEDIATE');
    await assert.rejects(append(head), StoreUnavailable);
    assert.equal((await history()).length, 1);
    other.exec('ROLLBACK');
    other.close();
    assert.equal((await append(head)).version, 2);
  });

  it('is unavailable if the database is full, and has then written nothing', async () => {
    const head = await append();
    database.exec('PRAGMA max_page_count = 1');
    const large = { ...fern, data: 'Fern'.repeat(10_000) };
    await assert.rejects(store.append(alice, head, mintCommit(), [fern, large]), StoreUnavailable);
    assert.equal((await history()).length, 1);
    assert.equal((await append(head)).version, 2);
  });

  it('reports an unknown outcome if the commit fails, and finds the append if it is repeated', async () => {
    const head = await append();
    const commit = mintCommit();
    const execute = database.exec.bind(database);
    database.exec = (sql) => {
      execute(sql);
      if (sql === 'COMMIT') throw new Error('disk I/O error');
    };
    await assert.rejects(store.append(alice, head, commit, [fern]), OutcomeUnknown);
    database.exec = execute;
    const repeated = await store.append(alice, head, commit, [fern]);
    assert.deepEqual(repeated, { status: 'appended', head: { version: 2, commit } });
    assert.equal((await history()).length, 2);
  });

  it('is opened for the service by its module, with a health check', async () => {
    process.env['SQLITE_FILE'] = file;
    const opened = openEventStore();
    await append();
    assert.deepEqual(await opened.catalogue!.find(alice), { stream: alice, version: 1 });
    assert.deepEqual(await opened.check(), { writes: true });
    await opened.close();
    await assert.rejects(opened.check());
  });

  it('lists, finds and erases streams of any name', async () => {
    const catalogue = new SqliteStreamCatalogue(database);
    const names = ['alice', 'a\0b', '🌵'].map((name) => parseStreamName(name)!);
    for (const name of names) await store.append(name, BEGINNING, mintCommit(), [fern, fern]);
    const all = names.map((stream) => ({ stream, version: 2 }));
    assert.deepEqual(new Set(await listed(catalogue)), new Set(all));
    assert.equal(await catalogue.erase(names[1]!), 2);
    assert.equal(await catalogue.find(names[1]!), undefined);
    assert.deepEqual(await catalogue.find(alice), { stream: alice, version: 2 });
  });

  it('lists a base whose events were deleted as a foreign object, and erases it', async () => {
    const catalogue = new SqliteStreamCatalogue(database);
    const base = { format: 'f-1', head: await append(), archive: 'seal', chunks: [] };
    assert.equal(await new SqliteStreamArchive(database).saveBase(alice, base, 0, async () => {}), true);
    database.exec('DELETE FROM events');
    const foreign = { foreign: 'the base snapshot of alice, whose events are missing' };
    assert.deepEqual(await listed(catalogue), [foreign]);
    await catalogue.erase(alice);
    assert.deepEqual(await listed(catalogue), []);
  });
});

async function listed(catalogue: SqliteStreamCatalogue): Promise<object[]> {
  const all = [];
  for await (const one of catalogue.streams()) all.push(one);
  return all;
}
