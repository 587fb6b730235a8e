import { expect } from 'chai';
import { MemoryLeases } from '../../src/adapters/memory';
import {
  type Batch,
  type LeaseStore,
  type Projection,
  StoreUnavailable,
  projectionState,
} from '../../src/event-sourcing';
import { streamName } from '../../src/testing/a-stream';
import { ManualClock, untilIdle } from '../support/manual-clock';
import { BucketedStore, ReadModel, projectInto } from './one-projection';

const TAKE_OVER_MS = 10_000;
const BUCKETS = 8;
/** One in each bucket. */
const STREAMS = Array.from({ length: BUCKETS }, (_, bucket) => streamName(`stream ${bucket}`));

/** A process that runs an instance. It has a clock of its own, which stands still while it is frozen. */
class Instance {
  readonly clock = new ManualClock();
  readonly projection: Projection<string, string>;
  /** The buckets of the batches that it has applied. */
  readonly applied: number[] = [];
  refused = 0;
  isFrozen = false;
  /** Whether it freezes in its next call of `apply`. */
  freezes = false;
  #awake: () => void = () => {};
  #running: Promise<void> = Promise.resolve();

  constructor(
    private readonly group: Group,
    instance: string,
    leases: LeaseStore,
    /** Whether it applies no event before the end of the test. */
    private readonly isStuck: boolean,
  ) {
    this.projection = projectInto(group.store, group.model, {
      clock: this.clock,
      apply: (batch) => this.#apply(batch),
      leases: {
        projection: 'notes',
        instance,
        takeOverMs: TAKE_OVER_MS,
        store: {
          load: (...args) => this.#whileAwake(() => leases.load(...args)),
          save: (...args) => this.#whileAwake(() => leases.save(...args)),
          projections: () => leases.projections(),
        },
      },
    });
  }

  /** A process that is killed is frozen for ever. */
  freeze(): void {
    this.isFrozen = true;
    this.#running = new Promise((resolve) => (this.#awake = resolve));
  }

  async awake(): Promise<void> {
    this.isFrozen = false;
    this.#awake();
    await untilIdle();
  }

  async #whileAwake<T>(call: () => Promise<T>): Promise<T> {
    await this.#running;
    return call();
  }

  async #apply(batch: Batch<string, string>): Promise<void> {
    if (this.freezes && !this.isFrozen && batch.slices.length > 0) this.freeze();
    await this.#running;
    if (this.isStuck && batch.slices.length > 0) await this.group.ended;
    try {
      await this.group.model.transaction(batch);
    } catch (error) {
      this.refused++;
      throw error;
    }
    if (batch.slices.length > 0) this.applied.push(Number(batch.checkpoint.key));
  }
}

/** Instances of one projection, and what they share. */
class Group {
  readonly store = new BucketedStore(BUCKETS);
  readonly model = new ReadModel();
  #now = 0;
  leases = new MemoryLeases(() => this.#now);
  readonly #instances: Instance[] = [];
  #end!: () => void;
  /** The end of the test. */
  readonly ended = new Promise<void>((resolve) => (this.#end = resolve));

  start(
    name: string,
    { leases, isStuck = false }: { leases?: LeaseStore; isStuck?: boolean } = {},
  ): Instance {
    const instance = new Instance(this, name, leases ?? this.leases, isStuck);
    this.#instances.push(instance);
    return instance;
  }

  /** Two instances that share the buckets. */
  async startTwo(options?: Parameters<Group['start']>[1]): Promise<[Instance, Instance]> {
    const one = this.start('one');
    await this.pass(1000);
    const other = this.start('other', options);
    await this.pass(TAKE_OVER_MS);
    return [one, other];
  }

  /** Lets time pass for the store, and for all instances that are not frozen. */
  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 100) {
      this.#now += 100;
      for (const { clock, isFrozen } of this.#instances) if (!isFrozen) await clock.pass(100);
    }
  }

  /** Appends an event to each stream. */
  async append(text: string): Promise<void> {
    for (const stream of STREAMS) await this.store.add(stream, text);
    await untilIdle();
  }

  expectApplied(...texts: string[]): void {
    expect(STREAMS.map((stream) => this.model.of(stream))).to.deep.equal(STREAMS.map(() => texts));
    expect(this.model.violations).to.deep.equal([]);
  }

  async close(): Promise<void> {
    this.#end();
    const closed = this.#instances
      .filter(({ isFrozen }) => !isFrozen)
      .map(({ projection }) => projection.close());
    await Promise.all(closed);
  }
}

describe('Instances of a projection with leases', () => {
  let group: Group;
  beforeEach(() => (group = new Group()));
  afterEach(() => group.close());

  it('share the buckets, also with one that starts later, and no write is refused', async () => {
    const instances = await group.startTwo();
    await group.append('one');
    group.expectApplied('one');
    expect(instances.map(({ applied }) => applied.length)).to.deep.equal([4, 4]);
    instances.push(group.start('third'));
    await group.pass(TAKE_OVER_MS);
    await group.append('two');
    group.expectApplied('one', 'two');
    expect(instances.map(({ applied }) => applied.length)).to.deep.equal([7, 7, 2]);
    expect(instances.map(({ refused }) => refused)).to.deep.equal([0, 0, 0]);
  });

  it('take over from one that was killed, within the time of a take-over', async () => {
    const [one, other] = await group.startTwo();
    one.freeze();
    await group.append('one');
    expect(other.applied).to.have.length(4);
    await group.pass(TAKE_OVER_MS);
    expect(other.applied).to.have.length(8);
    group.expectApplied('one');
  });

  it('are not reported to be behind while one takes over from two that ended or died, and nothing is recorded', async () => {
    const [one, other] = await group.startTwo();
    group.start('third');
    await group.append('one');
    await group.pass(TAKE_OVER_MS);
    one.freeze();
    await other.projection.close();
    const behind: (number | undefined)[] = [];
    for (let passed = 0; passed < TAKE_OVER_MS; passed += 500) {
      await group.pass(500);
      behind.push((await projectionState(group.leases, group.store.feed, 'notes'))?.behind);
    }
    expect(behind).to.deep.equal(behind.map(() => 0));
  });

  it('take over within a quarter of this time from one that ends', async () => {
    const [one, other] = await group.startTwo();
    await one.projection.close();
    await group.append('one');
    await group.pass(TAKE_OVER_MS / 4);
    expect(other.applied).to.have.length(8);
  });

  it('are refused what they write after a take-over, also before the other instance has written an event', async () => {
    const [one, other] = await group.startTwo({ isStuck: true });
    one.freezes = true;
    await group.append('one');
    expect(one.isFrozen).to.equal(true);
    await group.pass(TAKE_OVER_MS);
    one.freezes = false;
    await one.awake();
    expect([one.refused, one.applied, other.applied]).to.deep.equal([4, [], []]);
    group.expectApplied();
  });

  it('apply each event once if one was frozen in the middle of a batch', async () => {
    const [one, other] = await group.startTwo();
    one.freezes = true;
    await group.append('one');
    await group.pass(TAKE_OVER_MS);
    group.expectApplied('one');
    one.freezes = false;
    await one.awake();
    await group.append('two');
    group.expectApplied('one', 'two');
    await group.pass(2 * TAKE_OVER_MS);
    await group.append('three');
    group.expectApplied('one', 'two', 'three');
    expect([one.applied, other.applied].map(({ length }) => length)).to.deep.equal([4, 20]);
  });

  it('continue if the store has lost the leases', async () => {
    const { leases } = group;
    await leases.save('notes', undefined, JSON.stringify({ term: 1000, instances: {}, buckets: {} }));
    const instances = await group.startTwo();
    await leases.save('notes', (await leases.load('notes')).text, undefined);
    const { save } = leases;
    let saves = 0;
    leases.save = (...args) => {
      saves++;
      return save.apply(leases, args);
    };
    await group.append('one');
    await group.pass(TAKE_OVER_MS);
    expect(saves).to.be.below(50);
    await group.append('two');
    await group.pass(TAKE_OVER_MS);
    group.expectApplied('one', 'two');
    await group.append('three');
    group.expectApplied('one', 'two', 'three');
    expect(instances[0].applied.length + instances[1].applied.length).to.equal(24);
  });

  it('stop when their leases have ended, as long as these cannot be renewed', async () => {
    let isAway = false;
    const { leases } = group;
    const one = group.start('one', {
      leases: {
        load: async (name) => {
          if (isAway) throw new StoreUnavailable('away');
          return leases.load(name);
        },
        save: (...args) => leases.save(...args),
        projections: () => leases.projections(),
      },
    });
    await group.pass(1000);
    isAway = true;
    await group.append('one');
    await group.pass(TAKE_OVER_MS);
    await group.append('two');
    group.expectApplied('one');
    isAway = false;
    await group.pass(1000);
    group.expectApplied('one', 'two');
    expect(one.refused).to.equal(0);
  });

  it('each learn when all of them have caught up', async () => {
    await group.append('one');
    const [one, other] = await group.startTwo();
    const caughtUp: string[] = [];
    one.freezes = true;
    await group.append('two');
    void one.projection.caughtUp().then(() => caughtUp.push('one'));
    void other.projection.caughtUp().then(() => caughtUp.push('other'));
    await group.pass(1000);
    expect(caughtUp).to.deep.equal([]);
    await group.pass(TAKE_OVER_MS);
    expect(caughtUp).to.deep.equal(['other']);
  });

  it('need a name', () => {
    expect(() => group.start('')).to.throw(TypeError, 'the name of an instance must not be empty');
  });
});
