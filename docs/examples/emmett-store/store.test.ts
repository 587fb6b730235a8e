import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'node:test';
import * as emmett from '@event-driven-io/emmett';
import {
  type EventStore as Store,
  type OpenEventStore,
  OutcomeUnknown,
} from 'plant-store/event-sourcing';
import { openStore } from '../orders/open-store.js';
import { emmettStore } from './store.js';

type Moved = emmett.Event<'Moved', { readonly cents: number }>;
type MovedBefore = emmett.Event<'Moved', { readonly euros: number }>;
const moved = (cents: number): Moved => ({ type: 'Moved', data: { cents } });
const balance = {
  initialState: () => 0,
  evolve: (sum: number, { data }: Moved) => sum + data.cents,
};

describe('The store of emmett', () => {
  let opened: OpenEventStore;
  let store: emmett.EventStore<emmett.ReadEventMetadataWithoutGlobalPosition>;
  let name: string;
  const on = (own: Store) => emmettStore(own, opened.index!, 'accounts');
  before(async () => (opened = await openStore(`emmett-${randomUUID()}`)));
  after(() => opened.close());
  beforeEach(() => {
    store = on(opened.store);
    name = `account ${randomUUID()}`;
  });

  const append = (...cents: number[]) => store.appendToStream<Moved>(name, cents.map(moved));
  const read = async (options: object) =>
    (await store.readStream<Moved>(name, options)).events.map(({ data }) => data.cents);

  it('appends and reads events with their position, metadata and id', async () => {
    assert.equal(await store.streamExists(name), false);
    const event = { ...moved(1), metadata: { who: 'ann' } };
    const first = await store.appendToStream(name, [event, moved(2)]);
    assert.deepEqual(first, { nextExpectedStreamVersion: 2n, createdNewStream: true });
    assert.deepEqual(await append(3), { nextExpectedStreamVersion: 3n, createdNewStream: false });
    const { events, ...rest } = await store.readStream<Moved>(name);
    assert.deepEqual(rest, { currentStreamVersion: 3n, streamExists: true });
    const { messageId } = events[0]!.metadata;
    const metadata = { who: 'ann', streamName: name, streamPosition: 1n, messageId };
    assert.deepEqual(events[0], { kind: 'Event', type: 'Moved', data: { cents: 1 }, metadata });
    assert.equal(new Set(events.map((each) => each.metadata.messageId)).size, 3);
    assert.equal(await store.streamExists(name), true);
  });

  it('reads ranges, also over many pages', async () => {
    await append(...Array.from({ length: 1500 }, (_, index) => index + 1));
    assert.equal((await read({})).length, 1500);
    assert.deepEqual(await read({ from: 1498n }), [1499, 1500]);
    assert.deepEqual(await read({ to: 2n }), [1, 2]);
    assert.deepEqual(await read({ from: 1n, to: 3n }), [2, 3]);
    assert.deepEqual(await read({ from: 1n, maxCount: 1n }), [2]);
  });

  it('travels in time: aggregates up to a version', async () => {
    for (const cents of [10, 20, -5]) await append(cents);
    for (const [version, state] of [10, 30, 25].entries()) {
      const to = BigInt(version + 1);
      const found = await store.aggregateStream<number, Moved>(name, { ...balance, read: { to } });
      assert.deepEqual(found, { currentStreamVersion: to, state, streamExists: true });
    }
  });

  it('conflicts where the stream is not as expected, and writes nothing', async () => {
    const expecting = (expectedStreamVersion: emmett.ExpectedStreamVersion) =>
      store.appendToStream<Moved>(name, [moved(1)], { expectedStreamVersion });
    await assert.rejects(expecting(emmett.STREAM_EXISTS), emmett.isExpectedVersionConflictError);
    await assert.rejects(expecting(1n), emmett.isExpectedVersionConflictError);
    await expecting(emmett.STREAM_DOES_NOT_EXIST);
    await assert.rejects(
      expecting(emmett.STREAM_DOES_NOT_EXIST),
      emmett.isExpectedVersionConflictError,
    );
    await expecting(1n);
    assert.deepEqual(await read({}), [1, 1]);
    const stale = { expectedStreamVersion: 1n };
    await assert.rejects(store.readStream(name, stale), emmett.isExpectedVersionConflictError);
  });

  it('handles commands, and repeats those that met a conflict', async () => {
    const handle = emmett.CommandHandler<number, Moved>({
      ...balance,
      retry: { onVersionConflict: 20 },
    });
    const command = () => handle(store, name, (sum) => moved(sum === 0 ? 7 : 1));
    await Promise.all([command(), command(), command(), command()]);
    assert.deepEqual(await read({}), [7, 1, 1, 1]);
  });

  it('writes and reads events in another shape', async () => {
    const downcast = ({ type, data }: Moved): MovedBefore => ({
      type,
      data: { euros: data.cents / 100 },
    });
    const upcast = ({ type, data }: MovedBefore): Moved => ({
      type,
      data: { cents: data.euros * 100 },
    });
    const schema = { versioning: { downcast, upcast } };
    await store.appendToStream<Moved, MovedBefore>(name, [moved(500)], { schema });
    assert.deepEqual((await store.readStream<MovedBefore>(name)).events[0]!.data, { euros: 5 });
    const { events } = await store.readStream<Moved, MovedBefore>(name, { schema });
    assert.deepEqual(events[0]!.data, { cents: 500 });
  });

  it('records events once if the reply of an append is lost', async () => {
    let losses = 2;
    store = on({
      read: (...call) => opened.store.read(...call),
      async append(...call) {
        const result = await opened.store.append(...call);
        if (losses-- > 0) throw new OutcomeUnknown('lost');
        return result;
      },
    });
    await append(1, 2);
    assert.deepEqual([await read({}), losses], [[1, 2], -1]);
  });
});
