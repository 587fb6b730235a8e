import { PlantStore, type PlantStoreOptions, type User, plantsOf } from '../../../src/application';
import type { Clock, EventStore } from '../../../src/event-sourcing';
import { CallChecks } from './call-checks';

type ProcessOptions = Omit<PlantStoreOptions, 'clock' | 'snapshots'> & {
  readonly snapshots: NonNullable<PlantStoreOptions['snapshots']>;
};

/** The clock of a process: fast or slow, and without alarms after the death of the process. */
export class ProcessClock implements Clock {
  readonly #cancels = new Set<() => void>();
  #stopped = false;

  /** @param rate speed; the correct one is 1. */
  constructor(
    private readonly time: Clock,
    readonly rate: number,
  ) {}

  now(): number {
    return this.time.now() * this.rate;
  }

  after(ms: number, action: () => void): () => void {
    if (this.#stopped) return () => {};
    const remove = this.time.after(ms / this.rate, () => {
      this.#cancels.delete(cancel);
      action();
    });
    const cancel = () => {
      this.#cancels.delete(cancel);
      remove();
    };
    this.#cancels.add(cancel);
    return cancel;
  }

  stop(): void {
    this.#stopped = true;
    for (const cancel of this.#cancels) cancel();
  }
}

/** A process that serves plants. It may die at any time. */
export class SimulatedProcess {
  alive = true;
  readonly plants: PlantStore;
  readonly store: EventStore;
  readonly calls: CallChecks;
  /** Length of the longest queue after the last request. */
  mostWaiting = 0;
  readonly #clock: ProcessClock;
  /** Number of requests of each user without an answer. */
  readonly #pending = new Map<string, number>();

  constructor(
    time: Clock,
    readonly clockRate: number,
    hasLost: (stream: string) => boolean,
    optionsOf: (process: SimulatedProcess, clock: Clock) => ProcessOptions,
  ) {
    this.#clock = new ProcessClock(time, clockRate);
    this.calls = new CallChecks(() => time.now(), hasLost);
    const options = optionsOf(this, this.#clock);
    const { store, snapshots } = options;
    this.store = store;
    this.plants = new PlantStore({
      ...options,
      store: this.calls.watch(store),
      snapshots: { ...snapshots, store: this.calls.watchSnapshots(snapshots.store) },
      observer: [this.calls.observer, options.observer ?? []].flat(),
      clock: this.#clock,
    });
  }

  get clock(): Clock {
    return this.#clock;
  }

  die(): void {
    this.alive = false;
    this.#clock.stop();
  }

  /** Sends a request of a user. Settles as `send` does while the process lives. */
  answered<T>(user: User, send: () => Promise<T>): Promise<T> {
    const pending = this.#pending.get(user) ?? 0;
    const isUsed = pending > 0 || this.calls.saving.has(plantsOf(user));
    const misses = isUsed ? this.plants.usage.misses : Infinity;
    const answer = send();
    this.mostWaiting = 0;
    // An idle process exceeds no bound.
    if (isUsed || this.calls.unsettled > 0) this.#checkUsage(misses);
    this.#pending.set(user, pending + 1);
    return new Promise((resolve, reject) => {
      answer.then(
        (value) => this.#settled(user) && resolve(value),
        (error: unknown) => this.#settled(user) && reject(error as Error),
      );
    });
  }

  /** Counts a request that was answered; whether the process still lives. */
  #settled(user: string): boolean {
    this.#pending.set(user, this.#pending.get(user)! - 1);
    return this.alive;
  }

  #checkUsage(misses: number): void {
    const { usage } = this.plants;
    this.mostWaiting = usage.mostWaiting;
    if (usage.misses > misses) this.calls.problems.add('a state in use was evicted');
    this.#checkBound('bytes of commands', usage.commandBytes, usage.maxCommandBytes);
    this.#checkBound('waiting requests', usage.mostWaiting, usage.maxWaiting);
    this.#checkBound('bytes of a round', usage.roundBytes, usage.maxRoundBytes);
    this.#checkBound('loads', usage.loadsInProgress + usage.loadsWaiting, usage.aggregates);
  }

  #checkBound(what: string, used: number, max: number): void {
    if (used > max) this.calls.problems.add(`${used} ${what}, at most ${max}`);
  }

  /** What is not released, although there is no request. */
  leaks(): string[] {
    const { commandBytes, mostWaiting, roundBytes, loadsInProgress, loadsWaiting, bytes, maxBytes } =
      this.plants.usage;
    const unreleased = Object.entries({
      commandBytes,
      mostWaiting,
      roundBytes,
      loadsInProgress,
      loadsWaiting,
    })
      .filter(([, used]) => used !== 0)
      .map(([what, used]) => `${what} is ${used} without a request`);
    if (bytes > maxBytes) unreleased.push(`${bytes} bytes are cached, at most ${maxBytes}`);
    return [...unreleased, ...this.calls.problems, ...this.calls.wasted()];
  }
}
