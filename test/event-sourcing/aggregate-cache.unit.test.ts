import { expect } from 'chai';
import type { AggregateMemory } from '../../src/event-sourcing/aggregate/stream-state';
import { AggregateCache } from '../../src/event-sourcing/aggregate/aggregate-cache';
import { streamName } from '../../src/testing/a-stream';

/** What an aggregate costs without its state. */
const EMPTY_BYTES = 2048;
const EMPTY_ITEMS = 10;
const [ADA, BOB, CLEO] = ['ada', 'bob', 'cleo'].map(streamName) as [never, never, never];

/** An aggregate of the size that the test gives it. */
class Sized {
  bytes = 0;
  items = 0;
  evictable = true;

  constructor(private readonly memory: AggregateMemory) {}

  grow(bytes: number, items = 0): boolean {
    this.bytes += bytes;
    this.items += items;
    return this.memory.makeRoom();
  }
}

const open = (_: unknown, memory: AggregateMemory) => new Sized(memory);

const cacheOf = (maxBytes: number, maxItems = Infinity) => new AggregateCache<Sized>({ maxBytes, maxItems });

/** Those of the three that are in memory. */
const inMemory = (cache: AggregateCache<Sized>) => [ADA, BOB, CLEO].filter((stream) => cache.has(stream));

describe('The cache of aggregates', () => {
  it('is full up to the last byte and the last item', () => {
    const cache = cacheOf(2 * EMPTY_BYTES + 100, 2 * EMPTY_ITEMS + 5);
    cache.get(ADA, open);
    expect(cache.get(BOB, open).grow(100, 5)).to.equal(true);
    expect(inMemory(cache)).to.deep.equal([ADA, BOB]);
  });

  for (const [unit, bytes, items] of [
    ['byte', 101, 5],
    ['item', 100, 6],
  ] as const) {
    it(`evicts the least recently used one for one ${unit} more`, () => {
      const cache = cacheOf(3 * EMPTY_BYTES + 100, 3 * EMPTY_ITEMS + 5);
      for (const stream of [BOB, ADA, CLEO, BOB]) cache.get(stream, open);
      expect(cache.get(BOB, open).grow(bytes, items)).to.equal(true);
      expect(inMemory(cache)).to.deep.equal([BOB, CLEO]);
      expect(cache.usage).to.include({ aggregates: 2, evictions: 1, hits: 2, misses: 3 });
    });
  }

  it('evicts none that is loading or has requests', () => {
    const cache = cacheOf(2 * EMPTY_BYTES);
    cache.get(ADA, open).evictable = false;
    expect(cache.get(BOB, open).grow(1)).to.equal(false);
    expect(inMemory(cache)).to.deep.equal([ADA, BOB]);
  });

  it('evicts the most recently used one if another one needs its bytes to load', () => {
    const cache = cacheOf(2 * EMPTY_BYTES);
    const loading = cache.get(ADA, open);
    loading.evictable = false;
    cache.get(BOB, open);
    expect(loading.grow(1)).to.equal(true);
    expect(inMemory(cache)).to.deep.equal([ADA]);
  });

  it('keeps the most recently used one if another one has more items than fit', () => {
    const cache = cacheOf(Infinity, 2 * EMPTY_ITEMS);
    const loading = cache.get(ADA, open);
    loading.evictable = false;
    cache.get(BOB, open);
    expect(loading.grow(0, 1)).to.equal(true);
    expect(inMemory(cache)).to.deep.equal([ADA, BOB]);
  });

  it('keeps one that is too large alone, if it is the most recently used one', () => {
    const cache = cacheOf(EMPTY_BYTES);
    expect(cache.get(ADA, open).grow(1)).to.equal(false);
    expect(inMemory(cache)).to.deep.equal([ADA]);
  });
});
