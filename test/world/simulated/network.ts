import { isDeepStrictEqual } from 'node:util';
import {
  type Clock,
  type EncodedEvent,
  type EventStore,
  type Feed,
  type Head,
  OutcomeUnknown,
  StoreUnavailable,
  type StreamCatalogue,
  type StreamName,
} from '../../../src/event-sourcing';
import { type RedisModel, WriteRefused } from './redis-model';
import type { CallAction, Move } from './schedule';
import type { SimulatedProcess } from './simulated-process';
import { type SharedSnapshots, SimulatedSnapshots } from './simulated-snapshots';
import { type StoreNetwork, toggle } from './store-network';
import { STREAMS } from './users';

/** Of a page of the feed. */
const PAGE_ENTRIES = 100;

/** What the store answers, and how many writes the store had then. */
interface CallResult {
  readonly result?: { readonly value: unknown };
  readonly error?: Error;
  readonly offset: number;
}

/** A subscriber of an instance that waits for a change of a stream or of the feed. */
interface WaitingSubscriber {
  readonly instance: number;
  readonly hasChanged: () => boolean;
  readonly changed: () => void;
}

/** A call of an instance to the store. */
interface Call {
  readonly instance: number;
  readonly isAppend: boolean;
  readonly run: () => unknown;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
  /** Set when the store has executed it. */
  reply?: CallResult;
}

type Action = (call: Call) => void;
type Actions = Record<Exclude<CallAction, 'executeLate'>, Action> & Partial<Record<Move['type'], Action>>;

export interface NetworkOptions {
  readonly instances: number;
  readonly waitReplicas: number;
  readonly notifies: boolean;
  /** Whether a request that is under way reaches the server that a failover or a restart makes the primary. */
  readonly requestsSurviveFailover: boolean;
}

/**
 * The network between the instances and the store. Nothing moves on its own: a schedule selects a call, and what
 * happens to it. A request and its reply move separately, in any order.
 */
export class SimulatedNetwork implements StoreNetwork {
  readonly problems: ReadonlySet<string> = new Set();
  readonly recurringAlarms = 0;
  readonly #snapshots: SharedSnapshots;
  /** The calls without an outcome. */
  readonly calls: Call[] = [];
  /** Requests that may still reach the store, and have an outcome or will never get one. */
  readonly late: Call[] = [];
  readonly #waiters = new Set<WaitingSubscriber>();
  #frozen = false;
  readonly #partitioned = new Set<number>();

  constructor(
    private readonly store: RedisModel,
    private readonly options: NetworkOptions,
  ) {
    this.#snapshots = { kept: new Map(), bases: store.bases, are: 'whole' };
  }

  get idle(): boolean {
    return this.calls.length === 0;
  }

  open(instance: number, process: SimulatedProcess, clock: Clock) {
    const snapshots = new SimulatedSnapshots(this.#snapshots, clock, () => process.alive);
    const catalogue = this.#catalogueOf(instance);
    return { store: this.#storeOf(instance), snapshots, feed: this.#feedOf(instance), catalogue };
  }

  #send<T>(instance: number, isAppend: boolean, run: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.calls.push({ instance, isAppend, run, resolve: resolve as (result: unknown) => void, reject });
    });
  }

  #storeOf(instance: number): EventStore {
    return {
      read: (stream: StreamName, after: Head) =>
        this.#send(instance, false, () => this.store.read(stream, after)),
      append: (stream: StreamName, expected: Head, commit: string, events: readonly EncodedEvent[]) =>
        this.#send(instance, true, () => this.store.append(stream, expected, commit, events)),
      notify: this.options.notifies
        ? (stream, after, changed) => {
            const hasChanged = () => this.store.hasChanged(stream, after);
            return this.#wait({ instance, hasChanged, changed });
          }
        : undefined,
    };
  }

  #feedOf(instance: number): Feed {
    return {
      buckets: 1,
      bucketOf: () => 0,
      read: (_, trail, limit = PAGE_ENTRIES) =>
        this.#send(instance, false, () => this.store.readFeed(trail, limit)),
      end: () => this.#send(instance, false, () => this.store.feedEnd()),
      notify: this.options.notifies
        ? (_, after, changed) => {
            const hasChanged = () => !isDeepStrictEqual(this.store.feedEnd(), after);
            return this.#wait({ instance, hasChanged, changed });
          }
        : undefined,
    };
  }

  #catalogueOf(instance: number): StreamCatalogue {
    const find = (stream: StreamName) => {
      const version = this.store.history(stream).length;
      return version === 0 ? undefined : { stream, version };
    };
    const all = () => STREAMS.flatMap((stream) => find(stream) ?? []);
    const send = <T>(run: () => T) => this.#send(instance, false, run);
    return {
      async *streams() {
        yield* await send(all);
      },
      find: (stream) => send(() => find(stream)),
      erase: () => Promise.reject(new Error('no stream is erased')),
    };
  }

  #wait(waiter: WaitingSubscriber): () => void {
    this.#waiters.add(waiter);
    this.#notify();
    return () => void this.#waiters.delete(waiter);
  }

  archive(): undefined {
    return undefined;
  }

  play(move: Move): void {
    switch (move.type) {
      case 'freeze':
        this.#frozen = move.on;
        return;
      case 'partition': {
        const instance = move.nth % this.options.instances;
        this.#missNotifications(instance);
        return toggle(this.#partitioned, instance, move.on);
      }
      case 'snapshots':
        this.#snapshots.are = move.are;
        return;
      case 'executeLate':
        return this.#executeLate(move.nth);
      default: {
        const call = 'nth' in move ? this.calls[move.nth % this.calls.length] : undefined;
        if (call !== undefined) this.#actions[move.type]?.(call);
      }
    }
  }

  endFaults(): void {
    this.#frozen = false;
    this.#partitioned.clear();
    // Snapshots stay as they are: none but a base is needed to serve a request.
    if (this.#snapshots.are === 'unavailable') this.#snapshots.are = 'torn';
  }

  advance(): void {
    for (const call of [...this.calls]) this.#answer(call);
  }

  executeAllLate(): void {
    while (this.late.length > 0) this.#executeLate(0);
  }

  /** Notifies the subscribers whose stream has changed. Those that cannot be reached miss it. */
  #notify(): void {
    for (const waiter of this.#waiters) {
      const { hasChanged, instance, changed } = waiter;
      if (!hasChanged()) continue;
      this.#waiters.delete(waiter);
      if (!this.#frozen && !this.#partitioned.has(instance)) changed();
    }
  }

  #missNotifications(instance: number): void {
    for (const waiter of this.#waiters) if (waiter.instance === instance) this.#waiters.delete(waiter);
  }

  /** The server closes all connections, because it ends. */
  restart(): void {
    this.#waiters.clear();
    for (const call of [...this.calls]) this.#lose(call);
    if (!this.options.requestsSurviveFailover) this.late.splice(0);
  }

  failOver(): void {
    this.restart();
  }

  async close(): Promise<void> {}

  restore(): void {}

  disconnect(instance: number): void {
    for (const call of [...this.calls]) if (call.instance === instance) this.#hang(call);
    this.#missNotifications(instance);
  }

  readonly #actions: Actions = {
    execute: (call) => void this.#execute(call),
    answer: (call) => this.#answer(call),
    loseReply: (call) => this.#execute(call) && this.#lose(call),
    lose: (call) => this.#lose(call),
    // Not before the store has executed it: a refusal of one copy promises that there is no other. Nor if its history
    // was lost: a repeated append can restore the lost head, and then the other copy is recorded, as
    // docs/operations.md says.
    duplicate: (call) => {
      if (call.reply?.result && statusOf(call.reply.result.value) !== 'reset') this.late.push(call);
    },
    hang: (call) => this.#hang(call),
    // A call that was executed cannot be refused any more.
    refuse: (call) =>
      call.reply ? this.#lose(call) : this.#end(call).reject(new StoreUnavailable('the store refuses')),
    failWithBug: (call) => {
      this.#mayArriveLate(call);
      this.#end(call).reject(new TypeError('undefined is not a plant'));
    },
  };

  /** The request reaches the store. Returns the reply; `undefined` while the store cannot be reached. */
  #execute(call: Call): CallResult | undefined {
    if (this.#frozen || this.#partitioned.has(call.instance)) return undefined;
    return (call.reply ??= this.#run(call));
  }

  #run(call: Call): CallResult {
    try {
      const result = { value: call.run() };
      if (call.isAppend) this.#notify();
      return { result, offset: this.store.offset };
    } catch (error) {
      if (!(error instanceof WriteRefused)) throw error;
      return { error: new StoreUnavailable(error.message), offset: this.store.offset };
    }
  }

  #answer(call: Call): void {
    const reply = this.#execute(call);
    if (reply === undefined) return;
    const { result, error, offset } = reply;
    this.#end(call);
    if (result === undefined) call.reject(error!);
    else if (statusOf(result.value) === 'appended' && this.store.wait(offset) < this.options.waitReplicas)
      call.reject(new OutcomeUnknown('too few replicas have confirmed the append'));
    else call.resolve(result.value);
  }

  /** The connection of the caller breaks. */
  #lose(call: Call): void {
    this.#mayArriveLate(call);
    const Fault = call.isAppend ? OutcomeUnknown : StoreUnavailable;
    this.#end(call).reject(new Fault('the connection broke'));
  }

  /** The caller never gets an outcome. */
  #hang(call: Call): void {
    this.#mayArriveLate(call);
    this.#end(call);
  }

  #mayArriveLate(call: Call): void {
    if (call.reply === undefined) this.late.push(call);
  }

  #executeLate(nth: number): void {
    if (this.#frozen || this.late.length === 0) return;
    this.#run(this.late.splice(nth % this.late.length, 1)[0]!);
  }

  #end(call: Call): Call {
    this.calls.splice(this.calls.indexOf(call), 1);
    return call;
  }
}

function statusOf(result: unknown): string | undefined {
  return (result as { readonly status?: string } | undefined)?.status;
}
