import { PlantStore, type PlantStoreOptions } from '../../src/application';
import type { PlantEvent } from '../../src/domain';
import type { Clock, EventStore } from '../../src/event-sourcing';

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
  readonly store: EventStore<PlantEvent>;
  readonly #clock: ProcessClock;

  constructor(
    time: Clock,
    readonly clockRate: number,
    optionsOf: (process: SimulatedProcess, clock: Clock) => Omit<PlantStoreOptions, 'clock'>,
  ) {
    this.#clock = new ProcessClock(time, clockRate);
    const options = optionsOf(this, this.#clock);
    this.store = options.store;
    this.plants = new PlantStore({ ...options, clock: this.#clock });
  }

  get clock(): Clock {
    return this.#clock;
  }

  die(): void {
    this.alive = false;
    this.#clock.stop();
  }

  /** Settles like `answer` while the process lives. */
  answered<T>(answer: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      answer.then(
        (value) => this.alive && resolve(value),
        (error: unknown) => this.alive && reject(error as Error),
      );
    });
  }

  /** The bounds that memory and queues exceed. */
  exceededBounds(): string[] {
    const usage = this.plants.usage;
    const bounds: [string, number, number][] = [
      ['bytes of commands', usage.commandBytes, usage.maxCommandBytes],
      ['waiting requests', usage.mostWaiting, usage.maxWaiting],
      ['bytes of a round', usage.roundBytes, usage.maxRoundBytes],
    ];
    return bounds
      .filter(([, used, max]) => used > max)
      .map(([what, used, max]) => `${used} ${what}, at most ${max}`);
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
    return bytes > maxBytes ? [...unreleased, `${bytes} bytes are cached, at most ${maxBytes}`] : unreleased;
  }
}
