import net from 'node:net';
import timersPromises from 'node:timers/promises';
import { randomFrom } from '../../support/random';
import type { Clock } from '../../../src/event-sourcing';
import type { SimulatedSocket } from './simulated-socket';

/** What Node gives a program, and a simulation replaces. */
const REPLACED = ['setTimeout', 'setInterval', 'clearTimeout', 'clearInterval'] as const;

/** A timer on the simulated clock. */
class SimulatedTimer {
  cancel: () => void = () => {};

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }
}

/**
 * Replaces timers, the time and the TCP connections of Node while a simulation runs, so that ioredis and the Redis
 * adapter run unchanged on a simulated clock and a simulated network.
 */
export class SimulatedHost {
  /** Number of intervals that are set. They fire for ever, so a simulation does not wait for them. */
  intervals = 0;
  #restore: (() => void)[] = [];

  /** @param connect opens a connection to the host of this name. */
  constructor(
    private readonly clock: Clock,
    private readonly connect: (host: string) => SimulatedSocket,
  ) {}

  install(): void {
    const clear = (timer: SimulatedTimer | null | undefined) => timer?.cancel();
    const timers: Record<(typeof REPLACED)[number], unknown> = {
      setTimeout: (action: () => void, ms: number) => this.#setTimeout(action, ms),
      setInterval: (action: () => void, ms: number) => this.#setInterval(action, ms),
      clearTimeout: clear,
      clearInterval: clear,
    };
    for (const name of REPLACED) this.#replace(globalThis, name, timers[name]);
    this.#replace(
      timersPromises,
      'setTimeout',
      <T>(ms: number, value: T) =>
        new Promise<T>((resolve) => void this.clock.after(ms, () => resolve(value))),
    );
    // The nodes of a Cluster are chosen by it.
    this.#replace(Math, 'random', randomFrom(1));
    this.#replace(performance, 'now', () => this.clock.now());
    this.#replace(net, 'createConnection', ({ host }: { host: string }) => this.connect(host));
  }

  restore(): void {
    for (const restore of this.#restore.splice(0)) restore();
  }

  #replace(owner: object, name: string, replacement: unknown): void {
    const original = Object.getOwnPropertyDescriptor(owner, name);
    Object.defineProperty(owner, name, { value: replacement, configurable: true, writable: true });
    this.#restore.push(() => {
      if (original) Object.defineProperty(owner, name, original);
      else Reflect.deleteProperty(owner, name);
    });
  }

  #setTimeout(action: () => void, ms: number): SimulatedTimer {
    const timer = new SimulatedTimer();
    timer.cancel = this.clock.after(ms, action);
    return timer;
  }

  #setInterval(action: () => void, ms: number): SimulatedTimer {
    const timer = new SimulatedTimer();
    let cancel = () => {};
    const repeat = () => {
      cancel = this.clock.after(ms, () => {
        repeat();
        action();
      });
    };
    this.intervals++;
    timer.cancel = () => {
      this.intervals--;
      timer.cancel = () => {};
      cancel();
    };
    repeat();
    return timer;
  }
}
