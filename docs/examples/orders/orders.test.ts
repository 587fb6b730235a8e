import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ODD_TEXTS, examplesOf } from 'plant-store/testing';
import { type OrderEvent, orderDecider } from './order.js';
import { codec, orderCodec } from './store.js';

const place = (price: number) =>
  ({ type: 'PlaceOrder', lines: [{ article: 'pen', quantity: 3, price }] }) as const;
const pay = (amount: number) => ({ type: 'PayOrder', amount }) as const;

const added: OrderEvent = { type: 'LineAdded', article: 'pen', quantity: 3, price: 10 };
const placed: OrderEvent = { type: 'OrderPlaced', total: 30 };
const paid: OrderEvent = { type: 'OrderPaid', amount: 30 };
const cancelled: OrderEvent = { type: 'OrderCancelled' };

describe('An order', () => {
  const { given } = examplesOf(orderDecider);
  it('records its lines and their total', () => given().when(place(10)).then(added, placed));
  it('is placed once', () => given(added, placed).when(place(10)).then());
  it('keeps its lines', () => given(added, placed).when(place(11)).thenRejected('order-placed'));
  it('rejects a fraction of a cent', () => given().when(place(0.1)).thenRejected('lines-invalid'));
  it('is paid in full', () => given(added, placed).when(pay(29)).thenRejected('amount-wrong'));
  it('is paid once', () => given(added, placed, paid).when(pay(30)).then());
  it('is cancelled', () => given(added, placed).when({ type: 'CancelOrder' }).then(cancelled));
  it('is not paid once it is cancelled', () =>
    given(added, placed, cancelled).when(pay(30)).thenRejected('order-cancelled'));
});

const anyPrice = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
const anyText = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...ODD_TEXTS));
const anyAdded = fc.tuple(anyText, anyPrice).map(([article, price]) => ({ ...added, article, price }));
const any = fc.oneof(anyAdded, fc.constantFrom(placed, paid, cancelled));

it('Every event is read as it was written', () =>
  fc.assert(fc.property(any, (event) => assert.deepEqual(codec.decode(codec.encode(event)), event))));

it('Every order is restored from its snapshot', () =>
  fc.assert(
    fc.property(fc.array(any), (events) => {
      const { initialState, evolve } = orderDecider;
      const order = events.reduce(evolve, initialState());
      const read = orderCodec.readers[orderCodec.format]!;
      assert.deepEqual([...orderCodec.encode(order)].reduce(read, initialState()), order);
    }),
  ));
