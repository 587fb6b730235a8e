import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { after, before, beforeEach, describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import * as grpc from '@grpc/grpc-js';
import { staticTokens } from 'plant-store/adapters/auth';
import { serve } from 'plant-store/adapters/http';
import { system } from 'plant-store/adapters/system';
import { AuthenticationUnavailable, PlantStore, parseUser } from 'plant-store/application';
import {
  type OpenEventStore,
  OutcomeUnknown,
  StoreUnavailable,
  UnreadableHistory,
} from 'plant-store/event-sourcing';
import { openStore } from '../orders/open-store.js';
import { Plants, serveGrpc } from './grpc.js';

const ALICE = parseUser('alice')!;
const timeoutMs = 5000;

interface Answer {
  readonly status: string;
  readonly value: unknown;
  readonly details: string;
  readonly failure: Readonly<Record<string, unknown>>;
}

/** A client whose calls resolve with what it gets, even if that is a failure. */
function clientOf(port: number) {
  const client = new Plants(`127.0.0.1:${port}`, grpc.credentials.createInsecure());
  const call = (
    method: string,
    message: object,
    options: grpc.CallOptions = {},
    token = 'secret',
    gone?: AbortSignal,
  ) => {
    const metadata = new grpc.Metadata();
    if (token) metadata.set('authorization', `Bearer ${token}`);
    return new Promise<Answer>((resolve) => {
      const sent: grpc.ClientUnaryCall = client[method]!(
        message,
        metadata,
        options,
        (error: grpc.ServiceError | null, value: unknown) => {
          const { code = grpc.status.OK, details = '', metadata: trailers } = error ?? {};
          resolve({
            status: grpc.status[code]!,
            value,
            details,
            failure: trailers?.getMap() ?? {},
          });
        },
      );
      gone?.addEventListener('abort', () => sent.cancel());
    });
  };
  return { call, close: () => client.close() };
}

describe('Plants over gRPC', () => {
  let opened: OpenEventStore;
  let http: Awaited<ReturnType<typeof serve>>;
  let rpc: Awaited<ReturnType<typeof serveGrpc>>;
  let alice: ReturnType<typeof clientOf>;
  /** What the next append does first. */
  let beforeAppend: () => unknown = () => {};

  before(async () => {
    opened = await openStore(`grpc-${randomUUID()}`);
    const append: typeof opened.store.append = async (...call) => {
      await beforeAppend();
      return opened.store.append(...call);
    };
    const store = { read: opened.store.read.bind(opened.store), append };
    const plants = new PlantStore({ ...system(), store, timeoutMs: 1000 });
    const known = staticTokens(new Map([['secret', ALICE]]));
    const authenticator = {
      authenticate: async (token: string) => {
        if (token === 'away') throw new AuthenticationUnavailable();
        if (token === 'bug') throw new Error('a secret of the service');
        return known.authenticate(token);
      },
    };
    http = await serve({ plants, authenticator });
    rpc = await serveGrpc({ plants, authenticator, address: '127.0.0.1:0' });
    alice = clientOf(rpc.port);
  });
  beforeEach(() => (beforeAppend = () => {}));
  after(async () => {
    alice.close();
    await Promise.all([http.close({ noticeMs: 0, timeoutMs }), rpc.close({ timeoutMs })]);
    await opened.close();
  });

  it('have exact ids, and are the plants over HTTP', async () => {
    for (const id of ['9223372036854775807', '-9223372036854775808', '9007199254740993', '0']) {
      const plant = { id, name: `Fern ${id}`, tag: '' };
      assert.deepEqual((await alice.call('Create', plant)).value, plant);
    }
    assert.equal((await alice.call('Delete', { id: '9007199254740992' })).status, 'NOT_FOUND');
    assert.deepEqual((await alice.call('Delete', { id: '9007199254740993' })).value, {});
    const headers = { Authorization: 'Bearer secret', 'Content-Type': 'application/json' };
    const url = `http://127.0.0.1:${http.port}/plants`;
    const body = '{ "id": 9007199254740993, "name": "Moss" }';
    assert.equal((await fetch(url, { method: 'POST', headers, body })).status, 200);
    assert.equal(
      (await alice.call('Create', { id: '9007199254740993', name: 'Moss' })).status,
      'ALREADY_EXISTS',
    );
    const { value } = await alice.call('List', { limit: 3 });
    const { next, plants } = value as { next: string; plants: unknown[] };
    const rest = await alice.call('List', { after: next });
    assert.deepEqual(
      [...plants, ...(rest.value as { plants: unknown[] }).plants],
      await (await fetch(url, { headers })).json(),
    );
  });

  const fern = { id: '1', name: 'Fern' };
  for (const [what, status, number, method, message, token] of [
    ['an id that is absent', 'INVALID_ARGUMENT', '40002', 'Create', { name: 'Fern' }],
    ['an empty name', 'INVALID_ARGUMENT', '40002', 'Create', { id: '1', name: '' }],
    ['a delete without an id', 'INVALID_ARGUMENT', '40002', 'Delete', {}],
    ['an id that is taken', 'ALREADY_EXISTS', '40003', 'Create', { id: '0', name: 'Fern' }],
    ['an id that does not exist', 'NOT_FOUND', '40401', 'Delete', { id: '7' }],
    ['a call without a token', 'UNAUTHENTICATED', '40100', 'List', {}, ''],
    ['an unknown token', 'UNAUTHENTICATED', '40101', 'List', {}, 'other'],
    ['a token that cannot be checked now', 'UNAVAILABLE', '50300', 'List', {}, 'away'],
    ['a call that meets a bug', 'INTERNAL', '50000', 'List', {}, 'bug'],
  ] as const)
    it(`answer ${status} to ${what}`, async () => {
      const { status: found, failure } = await alice.call(method, message, {}, token);
      assert.deepEqual([found, failure['error']], [status, number]);
    });

  for (const [fault, status, number] of [
    [new StoreUnavailable('', { retryAfterMs: 70 }), 'UNAVAILABLE', '50300'],
    [new UnreadableHistory(), 'UNAVAILABLE', '50300'],
    [new OutcomeUnknown(), 'DEADLINE_EXCEEDED', '50301'],
  ] as const)
    it(`answer ${status} to ${fault.name}`, async () => {
      beforeAppend = () => Promise.reject(fault);
      const { status: found, failure, details } = await alice.call('Create', fern);
      assert.deepEqual([found, failure['error']], [status, number]);
      assert.equal(failure['retry-after-ms'], 'retryAfterMs' in fault ? '70' : undefined);
      assert.match(details, /nothing was changed|may or may not have happened/);
    });

  for (const [why, id] of Object.entries({
    'its deadline has passed': '100',
    'its client has gone': '200',
  }))
    it(`withdraw a write that has not begun when ${why}`, async () => {
      let release!: () => void;
      const begun = new Promise<void>((begin) => {
        beforeAppend = () => {
          beforeAppend = () => {};
          begin();
          return new Promise<void>((done) => (release = done));
        };
      });
      const first = alice.call('Create', { id, name: 'Fern' });
      await begun;
      const gone = new AbortController();
      const deadline = why.includes('deadline') ? Date.now() + 200 : Infinity;
      const waiting = alice.call(
        'Create',
        { id: `${id}1`, name: 'Fern' },
        { deadline },
        'secret',
        gone.signal,
      );
      // Once this is answered, the call before it has arrived.
      await alice.call('Delete', {});
      if (deadline === Infinity) gone.abort();
      assert.equal(
        (await waiting).status,
        deadline === Infinity ? 'CANCELLED' : 'DEADLINE_EXCEEDED',
      );
      // So has the end of it.
      await alice.call('Delete', {});
      release();
      await first;
      assert.equal((await alice.call('Delete', { id: `${id}1` })).status, 'NOT_FOUND');
    });

  it('answer the calls in flight before they end, and execute no other', async () => {
    const ids = Array.from({ length: 200 }, (_, index) => String(1000 + index));
    let arrived = 0;
    let release!: () => void;
    const gate = new Promise<void>((open) => (release = open));
    const append: typeof opened.store.append = (...call) =>
      gate.then(() => opened.store.append(...call));
    const plants = new PlantStore({
      ...system(),
      store: { read: opened.store.read.bind(opened.store), append },
    });
    const authenticator = { authenticate: () => (arrived++, ALICE) };
    const other = await serveGrpc({ plants, authenticator, address: '127.0.0.1:0' });
    const client = clientOf(other.port);
    const create = (id: string) => client.call('Create', { id, name: 'Moss' });
    const first = ids.slice(0, 100).map(create);
    while (arrived < first.length) await setImmediate();
    const closed = other.close({ timeoutMs });
    const second = ids.slice(100).map(create);
    await setImmediate();
    release();
    const statuses = (await Promise.all([...first, ...second])).map(({ status }) => status);
    await closed;
    client.close();
    assert.deepEqual(new Set(statuses.slice(0, 100)), new Set(['OK']));
    for (const [index, id] of ids.entries()) {
      const { status } = await alice.call('Delete', { id });
      assert.equal(status, { OK: 'OK', UNAVAILABLE: 'NOT_FOUND' }[statuses[index]!], id);
    }
  });

  it('end with their process at SIGTERM, once both transports have answered', async () => {
    const main = fileURLToPath(new URL('main.js', import.meta.url));
    const env = { ...process.env, TOKEN: 'secret', PORT: '0', GRPC_PORT: '0' };
    const child = spawn(process.execPath, [main], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const client = clientOf(Number(/(\d+)\n$/.exec(String(line))![1]));
    assert.equal(
      (await client.call('Create', { id: String(Date.now()), name: 'Fern' })).status,
      'OK',
    );
    child.kill('SIGTERM');
    assert.deepEqual(await once(child, 'exit'), [0, null]);
    client.close();
  });
});
