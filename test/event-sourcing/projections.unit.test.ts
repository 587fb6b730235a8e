/** Random schedules of writers, lost tails, and instances that die while they apply. */
import { expect } from 'chai';
import fc from 'fast-check';
import { MemoryLeases } from '../../src/adapters/memory';
import {
  type Batch,
  type LeaseStore,
  type ProjectedStore,
  type Projection,
  type StreamName,
} from '../../src/event-sourcing';
import { streamName } from '../../src/testing/a-stream';
import { ManualClock, untilIdle } from '../support/manual-clock';
import { BucketedStore, ReadModel, projectInto } from './one-projection';

const RUNS = process.env['LONG'] === '1' ? 2000 : 100;
const WRITERS = Array.from({ length: 64 }, (_, index) => streamName(`writer ${index}`));

/** What happens to a batch that an instance applies; `late`: after the instance died, and perhaps others went on. */
type Fate = 'applied' | 'late' | 'dies before' | 'dies after' | 'fails before' | 'fails after';

type ProjectionMove =
  | { readonly type: 'append'; readonly writer: number; readonly events: number }
  | { readonly type: 'start' | 'late' }
  | { readonly type: 'fate'; readonly fate: Fate }
  | { readonly type: 'lose'; readonly bucket: number; readonly commits: number }
  | { readonly type: 'erase'; readonly writer: number }
  /** From now on reads take so long, while which others append, and tails are lost. */
  | { readonly type: 'slow' | 'pass'; readonly ms: number };

const writer = fc.nat({ max: WRITERS.length - 1 });
const append = fc.record({ type: fc.constant('append'), writer, events: fc.integer({ min: 1, max: 5 }) });
const anyMove = fc.oneof<fc.WeightedArbitrary<ProjectionMove>[]>(
  { weight: 24, arbitrary: append },
  { weight: 2, arbitrary: fc.record({ type: fc.constantFrom('start', 'late') }) },
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant('fate'),
      fate: fc.constantFrom('late', 'dies before', 'dies after', 'fails before', 'fails after'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('lose'),
      bucket: fc.nat({ max: 1 }),
      commits: fc.integer({ min: 1, max: 20 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('erase'), writer }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('slow'), ms: fc.constantFrom(0, 50, 300) }) },
  { weight: 6, arbitrary: fc.record({ type: fc.constant('pass'), ms: fc.constantFrom(0, 50, 200, 6000) }) },
);

/** Several instances of one projection, of which some die. */
class Instances {
  readonly model = new ReadModel();
  readonly clock = new ManualClock();
  readonly #running = new Set<Projection<string, string>>();
  /** The fates of the next batches. */
  readonly fates: Fate[] = [];
  readonly #late: (() => Promise<void>)[] = [];
  /** How long each read takes, in ms. */
  readMs = 0;
  readonly #store: ProjectedStore;
  #started = 0;

  constructor(
    { store, feed, catalogue }: ProjectedStore,
    private readonly lostTail: (bucket: number) => void,
    private readonly leases: LeaseStore | undefined,
  ) {
    const slowly = async <T>(read: () => Promise<T>): Promise<T> => {
      if (this.readMs > 0) await new Promise<void>((resolve) => this.clock.after(this.readMs, resolve));
      return read();
    };
    this.#store = {
      store: { ...store, read: (...args) => slowly(() => store.read(...args)) },
      feed: { ...feed!, read: (...args) => slowly(() => feed!.read(...args)) },
      catalogue,
    };
  }

  start(): void {
    if (this.#running.size === 3) return;
    const process = { isDead: false };
    const projection = projectInto(this.#store, this.model, {
      clock: this.clock,
      lostTail: ({ bucket }) => this.lostTail(bucket),
      apply: (batch) => this.#apply(batch, projection, process),
      leases: this.leases && {
        projection: 'notes',
        instance: String(++this.#started),
        store: {
          projections: () => this.leases!.projections(),
          load: (...args) => (process.isDead ? new Promise(() => {}) : this.leases!.load(...args)),
          save: (...args) => (process.isDead ? new Promise(() => {}) : this.leases!.save(...args)),
        },
      },
    });
    this.#running.add(projection);
  }

  async #apply(
    batch: Batch<string, string>,
    projection: Projection<string, string>,
    process: { isDead: boolean },
  ): Promise<void> {
    const fate = this.fates.shift() ?? 'applied';
    if (fate === 'late') this.#late.push(() => this.model.transaction(batch).catch(() => {}));
    if (fate === 'fails before') throw new Error(fate);
    if (/applied|after/.test(fate)) await this.model.transaction(batch);
    if (fate === 'fails after') throw new Error(fate);
    if (fate === 'applied') return;
    this.#running.delete(projection);
    process.isDead = true;
    // Its run never ends, because this call does not.
    void projection.close();
    await new Promise(() => {});
  }

  async applyLate(): Promise<void> {
    for (const apply of this.#late.splice(0)) await apply();
  }

  /** All faults end, and one instance at least applies all that there is. */
  async settle(): Promise<void> {
    this.fates.length = this.readMs = 0;
    await this.applyLate();
    this.start();
    await this.clock.pass(60_000);
    for (const projection of this.#running) await projection.close();
  }
}

async function perform(
  move: ProjectionMove,
  store: BucketedStore,
  instances: Instances,
  { unreported, erased }: { readonly unreported: Set<number>; readonly erased: Set<StreamName> },
) {
  switch (move.type) {
    case 'append':
      await store.add(WRITERS[move.writer]!, ...Array<string>(move.events).fill('event'));
      break;
    case 'start':
      instances.start();
      break;
    case 'late':
      await instances.applyLate();
      break;
    case 'fate':
      instances.fates.push(move.fate);
      return;
    case 'lose': {
      const lost = await store.loseCommits(move.bucket, move.commits);
      const applied = [...instances.model.streams].filter(([stream]) => !erased.has(stream));
      if (applied.some(([, events]) => events.some(({ commit }) => lost.has(commit))))
        unreported.add(move.bucket);
      break;
    }
    case 'erase':
      await store.catalogue.erase(WRITERS[move.writer]!);
      // Written again, it may be applied ahead of the position without a bound.
      erased.add(WRITERS[move.writer]!);
      break;
    case 'slow':
      instances.readMs = move.ms;
      return;
    case 'pass':
      return instances.clock.pass(move.ms);
  }
  await untilIdle();
}

describe('Projections', () => {
  for (const [kind, feedLength, leased] of [
    ['whole', 1000, ''],
    ['trimmed', 4, ''],
    ['whole', 1000, ', with leases,'],
    ['trimmed', 4, ', with leases,'],
  ] as const)
    it(`of a ${kind} feed${leased} skip nothing and apply nothing twice, in any schedule`, () =>
      fc.assert(
        fc.asyncProperty(fc.array(anyMove, { maxLength: 150, size: 'max' }), async (moves) => {
          const store = new BucketedStore(2, feedLength);
          const unreported = new Set<number>();
          const erased = new Set<StreamName>();
          const clock = (): number => instances.clock.now();
          const leases = leased ? new MemoryLeases(clock) : undefined;
          const instances: Instances = new Instances(store, (bucket) => unreported.delete(bucket), leases);
          instances.start();
          for (const move of moves) await perform(move, store, instances, { unreported, erased });
          // An erasure is not in the feed: the next event of the stream reveals it.
          for (const each of erased) await store.add(each, 'last');
          await instances.settle();
          expect(instances.model.violations).to.deep.equal([]);
          for (const each of WRITERS)
            expect(instances.model.streams.get(each) ?? [], each).to.deep.equal(await store.history(each));
          expect([...unreported], 'lost tails without a report').to.deep.equal([]);
        }),
        { numRuns: RUNS },
      )).timeout(600_000);
});
