import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';
import { TagPage } from './page.js';
import { openPlants } from './plants.js';
import { type Tags, projectTags } from './tags.js';

describe('The tags of all plants', () => {
  let plants: ReturnType<typeof openPlants>;
  let database: DatabaseSync;
  let tags: Tags;
  /** The timers of a projection do not keep the process alive, and there is no connection. */
  let alive: NodeJS.Timeout;
  beforeEach(() => {
    alive = setInterval(() => {}, 1000);
    plants = openPlants();
    database = new DatabaseSync(':memory:');
    tags = projectTags(plants.store, database);
  });
  afterEach(async () => {
    await tags.projection.close();
    clearInterval(alive);
  });

  const counts = (from = tags) => from.count().map(({ tag, plants }) => `${tag} ${plants}`);

  it('are counted over all users, at once after a write', async () => {
    await plants.create('alice', '1', 'shade');
    await plants.create('alice', '2', 'sun');
    await plants.create('alice', '3');
    const last = await plants.create('bob', '1', 'sun');
    assert.equal(await tags.projection.waitFor(...last), true);
    assert.deepEqual(counts(), ['sun 2', 'shade 1']);
    await tags.projection.waitFor(...(await plants.remove('alice', '1')));
    assert.deepEqual(counts(), ['sun 2']);
  });

  it('are counted once, also after a restart', async () => {
    await tags.projection.waitFor(...(await plants.create('alice', '1', 'sun')));
    await tags.projection.close();
    await plants.create('bob', '1', 'sun');
    tags = projectTags(plants.store, database);
    await tags.projection.caughtUp();
    assert.deepEqual(counts(), ['sun 2']);
  });

  it('are counted once by several instances', async () => {
    const failures = mock.method(console, 'error', () => {});
    const other = projectTags(plants.store, database);
    for (let id = 1; id <= 100; id++) {
      const last = await plants.create(`user ${id % 7}`, String(id), 'sun');
      if (id % 10 === 0) await tags.projection.waitFor(...last);
    }
    await other.projection.close();
    assert.deepEqual([counts(), failures.mock.callCount()], [['sun 100'], 0]);
    mock.restoreAll();
  });

  it('are without those of a user that was erased, once that user has other plants', async () => {
    await tags.projection.waitFor(...(await plants.create('alice', '1', 'sun')));
    await plants.erase('alice');
    await plants.create('alice', '1', 'new');
    await until(() => counts().includes('new 1'));
    assert.deepEqual(counts(), ['new 1']);
  });

  describe('on a page', () => {
    let page: TagPage;
    let server: ReturnType<typeof createServer>;
    let url: string;
    beforeEach(async () => {
      page = new TagPage(plants.store, () => ':memory:');
      server = createServer(page.answer).listen(0, '127.0.0.1');
      await once(server, 'listening');
      url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    });
    afterEach(async () => {
      server.close();
      server.closeAllConnections();
      await page.close();
    });
    const text = async () => (await fetch(url)).text();

    it('are shown as text', async () => {
      await page.tags.projection.waitFor(...(await plants.create('alice', '1', '<b>&amp;')));
      assert.match(await text(), /<td>&lt;b>&amp;amp;<td>1/);
    });

    it('are rebuilt while it is read: no request fails or shows fewer', async () => {
      for (let id = 1; id <= 2000; id++) await plants.create(`user ${id % 1000}`, String(id), 'sun');
      await until(async () => (await text()).includes('2000'));
      let rebuilding = true;
      const before = page.tags;
      const rebuilt = page.rebuild().finally(() => (rebuilding = false));
      let reads = 0;
      for (; rebuilding || reads < 10; reads++) assert.match(await text(), /<td>sun<td>2000/);
      await rebuilt;
      assert.notEqual(page.tags, before);
      await page.tags.projection.waitFor(...(await plants.create('alice', '1', 'sun')));
      assert.match(await text(), /<td>sun<td>2001/);
    });
  });
});

async function until(happened: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await happened())) await new Promise((resolve) => setTimeout(resolve, 5));
}
