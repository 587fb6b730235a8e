import { isDeepStrictEqual } from 'node:util';
import { plantCodec } from '../../../src/application';
import type { PlantEvent } from '../../../src/domain';
import {
  ArchivedHistory,
  BEGINNING,
  type EventStore,
  type Head,
  HistoryChanged,
  type RecordedEvent,
  type StreamName,
  headOf,
  subscribe,
} from '../../../src/event-sourcing';
import type { RedisModel } from './redis-model';
import type { SimulatedProcess } from './simulated-process';

/** The events that a subscriber has taken after a head. */
export interface TakenEvents {
  readonly after: Head;
  readonly events: RecordedEvent<PlantEvent>[];
}

const LONGEST_READ_MS = 10_000;

type Subscription = AsyncIterableIterator<RecordedEvent<PlantEvent>>;

/** A client that follows the events of a user, through one process after the other, and keeps them. */
export class SimulatedSubscriber {
  /** Others follow the first ones when it starts over, because the history was lost or archived. */
  readonly taken: TakenEvents[] = [];
  /** What must not happen. */
  readonly problems = new Set<string>();
  /** Why its subscriptions ended. */
  readonly endings = new Set<string>();
  #head: Head;
  #subscription: Subscription | undefined;
  /** Subscriptions that must end, and have not; and notifications that a subscription waits for. */
  #unended = 0;
  #notifications = 0;

  /** @param pauseMs how long it takes to process an event. */
  constructor(
    readonly stream: StreamName,
    after: Head,
    private pauseMs: number,
    public process: SimulatedProcess,
    private readonly model: RedisModel,
  ) {
    this.#head = this.#startAfter(after);
    this.subscribe(process);
  }

  /** Whether it has all events. */
  get isCurrent(): boolean {
    return isDeepStrictEqual(this.#head, headOf(this.model.history(this.stream).at(-1) ?? BEGINNING));
  }

  /** Processes each event at once from now on. */
  hurry(): void {
    this.pauseMs = 0;
  }

  /** Follows on through this process. */
  subscribe(process: SimulatedProcess): void {
    this.end();
    this.process = process;
    const { clock, store } = process;
    const subscription = subscribe(this.#watched(store), this.stream, this.#head, {
      codec: plantCodec,
      clock,
    });
    this.#subscription = subscription;
    void this.#follow(subscription);
  }

  /** Ends the subscription, possibly while it reads or waits. */
  end(): void {
    const ended = this.#subscription;
    this.#subscription = undefined;
    if (ended === undefined) return;
    this.#unended++;
    const process = this.process;
    this.endings.add(process.alive ? 'the client' : 'a dead process');
    void ended.return!().then(() => this.#unended--);
    // Nothing ends in a process that died, and it holds nothing.
    if (process.alive) return;
    this.#unended = 0;
    this.#notifications = 0;
  }

  /** What the ended subscriptions still hold. */
  leaks(): string[] {
    return [
      ...(this.#unended > 0 ? ['a subscription does not end'] : []),
      ...(this.#notifications > 0 ? ['a subscription holds a notification after its end'] : []),
    ];
  }

  async #follow(subscription: Subscription): Promise<void> {
    const { clock } = this.process;
    try {
      for (;;) {
        const { value } = await subscription.next();
        if (subscription !== this.#subscription) return;
        this.#take(value as RecordedEvent<PlantEvent>);
        if (this.pauseMs > 0) await new Promise<void>((resolve) => void clock.after(this.pauseMs, resolve));
      }
    } catch (error) {
      if (subscription !== this.#subscription) return;
      this.#subscription = undefined;
      if (error instanceof Error) this.endings.add(error.name);
      if (this.#handles(error)) this.subscribe(this.process);
      else this.problems.add(`a subscription failed: ${String(error)}`);
    }
  }

  #take(event: RecordedEvent<PlantEvent>): void {
    this.taken.at(-1)!.events.push(event);
    this.#head = headOf(event);
  }

  /** Whether it may happen that a subscription fails with this error. Then the next one begins where it is possible. */
  #handles(error: unknown): boolean {
    const { stream, model } = this;
    const { version, commit } = this.#head;
    if (error instanceof HistoryChanged) {
      this.#head = this.#startAfter(BEGINNING);
      return (
        model.lost.get(stream)?.some((lost) => lost.version === version && lost.commit === commit) === true
      );
    }
    if (error instanceof ArchivedHistory) {
      this.#head = this.#startAfter(model.bases.get(stream)?.head ?? BEGINNING);
      return model.archivedTo(stream) > Math.max(1, version);
    }
    // A bug of the store.
    return error instanceof TypeError;
  }

  #startAfter(after: Head): Head {
    this.taken.push({ after: headOf(after), events: [] });
    return headOf(after);
  }

  /** The store, as a subscription calls it: it must not read before it has passed on all events that it has read. */
  #watched(store: EventStore): EventStore {
    const { notify } = store;
    const { clock } = this.process;
    let end = this.#head.version;
    return {
      append: store.append.bind(store),
      read: async (stream, after) => {
        if (this.#head.version < end) this.problems.add('a subscription holds more than a page');
        const start = clock.now();
        const result = await store.read(stream, after);
        // The result of a read that takes longer is discarded, and the read repeated.
        if (result.status === 'read' && clock.now() < start + LONGEST_READ_MS)
          end = after.version + result.events.length;
        return result;
      },
      ...(notify && {
        notify: (stream, after, changed) => {
          this.#notifications++;
          const cancel = notify.call(store, stream, after, changed);
          return () => {
            this.#notifications--;
            cancel();
          };
        },
      }),
    };
  }
}
