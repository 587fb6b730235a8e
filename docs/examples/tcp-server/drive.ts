/** Tests the server as a client. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type Socket, connect } from 'node:net';
import { createInterface } from 'node:readline';
import { after, before, describe, it } from 'node:test';
import { FAILURES } from 'plant-store/application';

const SERVER = new URL('./server.js', import.meta.url).pathname;

describe('The TCP server', () => {
  let server: ChildProcess;
  let port: number;
  before(async () => {
    server = spawn(process.execPath, [SERVER], {
      env: { TOKENS: 'alice:secret,bob:other' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [chunk] = (await once(server.stdout!, 'data')) as [Buffer];
    port = Number(/port (\d+)/.exec(chunk.toString())?.[1]);
  });
  after(async () => {
    server.kill('SIGTERM');
    const [code] = (await once(server, 'exit')) as [number];
    assert.equal(code, 0);
  });

  /** Sends the lines, and resolves with all responses until the server closes. */
  async function tell(...lines: (object | string | Buffer)[]): Promise<unknown[]> {
    const socket: Socket = connect(port, '127.0.0.1');
    const answers: unknown[] = [];
    createInterface({ input: socket }).on('line', (line) => answers.push(JSON.parse(line)));
    for (const line of lines) {
      socket.write(typeof line === 'string' || Buffer.isBuffer(line) ? line : `${JSON.stringify(line)}\n`);
    }
    socket.end();
    await once(socket, 'close');
    return answers;
  }
  const alice = { token: 'secret' };

  it('creates, lists and deletes, exact to the last digit of an int64', async () => {
    const [max, near] = ['9223372036854775807', '9223372036854775806'];
    assert.deepEqual(
      await tell(
        alice,
        { seq: 1, do: 'create', id: max, name: 'Fern', tag: '' },
        { seq: 2, do: 'create', id: near, name: 'Moss' },
        { seq: 3, do: 'create', id: max, name: 'Palm' },
        { seq: 4, do: 'list', limit: 1 },
      ),
      [
        { user: 'alice' },
        { seq: 1, ok: true },
        { seq: 2, ok: true },
        { seq: 3, ...FAILURES.idTaken },
        { seq: 4, plants: [{ name: 'Fern', tag: '' }], next: 1 },
      ],
    );
    assert.deepEqual(
      await tell(
        alice,
        { seq: 1, do: 'delete', id: max },
        { seq: 2, do: 'delete', id: max },
        { seq: 3, do: 'list' },
      ),
      [
        { user: 'alice' },
        { seq: 1, ok: true },
        { seq: 2, ...FAILURES.noSuchPlant },
        { seq: 3, plants: [{ name: 'Moss' }] },
      ],
    );
  });

  it('shows a user only their own plants', async () => {
    await tell(alice, { do: 'create', id: '1', name: 'Aloe' });
    assert.deepEqual(await tell({ token: 'other' }, { do: 'list' }), [{ user: 'bob' }, { plants: [] }]);
  });

  it('refuses a connection without a valid token', async () => {
    for (const first of [{ token: 'wrong' }, { do: 'list' }, 'null\n']) {
      assert.deepEqual(await tell(first, { do: 'list' }), [{ error: 'bad-token' }]);
    }
  });

  it('reports an invalid request, and continues', async () => {
    const answers = await tell(
      alice,
      { seq: 1, do: 'create', id: 7, name: 'Fern' },
      { seq: 2, do: 'create', id: '7', name: '\ud800' },
      { seq: 3, do: 'dance' },
      { seq: 4, do: 'list', limit: 0 },
    );
    assert.deepEqual(
      answers.slice(1, 4).map((answer) => (answer as { error: string }).error),
      ['bad-request', 'bad-request', 'bad-request'],
    );
    assert.deepEqual((answers[4] as { plants: unknown }).plants, []);
  });

  it('closes a connection after a line that is not JSON, not UTF-8 or too long', async () => {
    for (const rubbish of ['hello\n', Buffer.from([0xff, 0x0a]), 'x'.repeat(100_000), '{"do":']) {
      const answers = await tell(alice, rubbish);
      assert.equal((answers.at(-1) as { error: string }).error, 'bad-line');
    }
  });

  it('answers a thousand requests that were sent at once', async () => {
    const requests = Array.from({ length: 1000 }, (_, seq) => ({ seq, do: 'list', limit: 1 }));
    assert.equal((await tell(alice, ...requests)).length, 1001);
  });
});
