import type { Clock } from '../../src/event-sourcing';

/** Resolves once nothing more can happen until time passes or I/O completes. */
export function untilIdle(): Promise<void> {
  // An immediate runs only after every promise that can settle has settled.
  return new Promise((resolve) => void setImmediate(resolve));
}

interface Alarm {
  readonly at: number;
  readonly action: () => void;
}

/** A clock that stands still until the test advances it. */
export class ManualClock implements Clock {
  // Not 0, so that code that confuses a time with a duration fails.
  #now = 1_000_000;
  readonly #alarms = new Set<Alarm>();

  /** @param untilIdle resolves once all effects of an alarm have happened. */
  constructor(private readonly idle = untilIdle) {}

  /** Number of alarms that are set. Code that repeats work at intervals is idle while it waits for the next alarm. */
  get waiting(): number {
    return this.#alarms.size;
  }

  now(): number {
    return this.#now;
  }

  after(ms: number, action: () => void): () => void {
    const alarm = { at: this.#now + ms, action };
    this.#alarms.add(alarm);
    return () => void this.#alarms.delete(alarm);
  }

  /** Lets `ms` pass: each alarm fires at its own time, and all its effects happen before the next alarm. */
  async pass(ms: number): Promise<void> {
    const end = this.#now + ms;
    await this.idle();
    for (let alarm = this.#next(end); alarm !== undefined; alarm = this.#next(end)) {
      this.#alarms.delete(alarm);
      this.#now = alarm.at;
      alarm.action();
      await this.idle();
    }
    this.#now = end;
  }

  /** The earliest alarm up to `end`; of two at the same time, the one that was set first. */
  #next(end: number): Alarm | undefined {
    let next: Alarm | undefined;
    for (const alarm of this.#alarms) {
      if (alarm.at <= end && (next === undefined || alarm.at < next.at)) next = alarm;
    }
    return next;
  }
}
