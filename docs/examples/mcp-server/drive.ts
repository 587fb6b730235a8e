/** Tests the server as a client, over stdio. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const SERVER = new URL('./server.js', import.meta.url).pathname;
const MAX_INT64 = '9223372036854775807';

describe('The MCP server', () => {
  const client = new Client({ name: 'drive', version: '1.0.0' });
  before(() =>
    client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [SERVER],
        env: { PLANT_USER: 'alice', REDIS_URL: process.env['REDIS_URL'] ?? '' },
      }),
    ),
  );
  after(() => client.close());

  const call = (name: string, args: Record<string, unknown>) => client.callTool({ name, arguments: args });
  const textOf = (result: Awaited<ReturnType<typeof call>>) =>
    [result.isError ?? false, (result.content as { text: string }[])[0]?.text] as const;

  it('offers its three tools, with ids as strings', async () => {
    const { tools } = await client.listTools();
    assert.deepEqual(tools.map(({ name }) => name).sort(), ['create_plant', 'delete_plant', 'list_plants']);
    const properties = tools.find(({ name }) => name === 'create_plant')?.inputSchema.properties;
    assert.equal((properties?.['id'] as { type: string }).type, 'string');
  });

  it('creates, lists and deletes, exact to the last digit of an int64', async () => {
    const near = '9223372036854775806';
    assert.deepEqual(textOf(await call('create_plant', { id: MAX_INT64, name: 'Fern', tag: '' })), [
      false,
      `Created plant ${MAX_INT64}.`,
    ]);
    assert.equal((await call('create_plant', { id: near, name: 'Moss' })).isError, undefined);
    assert.match(
      String(textOf(await call('create_plant', { id: MAX_INT64, name: 'Palm' }))),
      /^true,40003: /,
    );
    assert.match(String(textOf(await call('delete_plant', { id: '9223372036854775805' }))), /^true,40401: /);

    const first = await call('list_plants', { limit: 1 });
    assert.deepEqual(first.structuredContent, { plants: [{ name: 'Fern', tag: '' }], next: 1 });
    const second = await call('list_plants', { after: 1 });
    assert.deepEqual(second.structuredContent, { plants: [{ name: 'Moss' }] });

    for (const id of [MAX_INT64, near]) assert.equal((await call('delete_plant', { id })).isError, undefined);
    assert.deepEqual((await call('list_plants', {})).structuredContent, { plants: [] });
  });

  for (const id of [7, '07', '9223372036854775808', '1.0', '']) {
    it(`refuses the id ${JSON.stringify(id)}, and says why`, async () => {
      const [isError, text] = textOf(await call('create_plant', { id, name: 'Fern' }));
      assert(isError);
      assert.match(text ?? '', /id/);
    });
  }

  it('refuses a name that is empty or not well-formed', async () => {
    for (const name of ['', '\ud800']) assert((await call('create_plant', { id: '1', name })).isError);
  });

  it('does not start without PLANT_USER', () => {
    const { status, stderr } = spawnSync(process.execPath, [SERVER], { env: {} });
    assert.deepEqual(
      [status, stderr.toString()],
      [2, 'PLANT_USER must be 1 to 255 characters of well-formed Unicode\n'],
    );
  });
});

describe('The MCP server without a Redis that answers', () => {
  it('says that nothing was changed', async () => {
    const client = new Client({ name: 'drive', version: '1.0.0' });
    const env = { PLANT_USER: 'alice', REDIS_URL: 'redis://127.0.0.1:1' };
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args: [SERVER], env, stderr: 'ignore' }),
    );
    const { isError, content } = await client.callTool({
      name: 'create_plant',
      arguments: { id: '1', name: 'Fern' },
    });
    await client.close();
    assert.equal(isError, true);
    assert.match((content as { text: string }[])[0]?.text ?? '', /^50300: .*nothing was changed/);
  });
});
