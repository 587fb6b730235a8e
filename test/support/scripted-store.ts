import { streamName } from '../../src/testing/a-stream';
import { MemoryEventStore } from '../../src/adapters/memory/event-store';
import {
  type AppendResult,
  BEGINNING,
  type Codec,
  type EncodedEvent,
  type EventStore,
  type Head,
  OutcomeUnknown,
  type ReadResult,
  type RecordedEvent,
  StoreUnavailable,
  type StreamName,
  recordedEvent,
} from '../../src/event-sourcing';
import { untilIdle } from './manual-clock';

interface CallRequest {
  readonly kind: 'read' | 'append';
  readonly stream: string;
  /** The head after which it reads or appends. */
  readonly after: Head;
  readonly commit?: string;
  readonly events?: readonly EncodedEvent[];
}

type ScriptedAnswer = ReadResult | AppendResult;

/**
 * A call in flight. The test decides when it reaches the store, and when and how
 * the caller gets its result. The two are independent, as on a network.
 */
export class StoreCall {
  #executed: Promise<ScriptedAnswer> | undefined;

  constructor(
    readonly request: CallRequest,
    private readonly run: () => Promise<ScriptedAnswer>,
    private readonly resolve: (answer: ScriptedAnswer) => void,
    private readonly reject: (error: unknown) => void,
    private readonly onSettled: (call: StoreCall) => void,
  ) {}

  get executed(): boolean {
    return this.#executed !== undefined;
  }

  /** The call reaches the store and is executed, once; possibly long after its timeout. */
  async execute(): Promise<void> {
    this.#executed ??= this.run();
    await untilIdle();
  }

  /** Executes the call, unless it was executed before, and returns the result to the caller. */
  async answer(): Promise<void> {
    this.onSettled(this);
    this.resolve(await (this.#executed ??= this.run()));
    await untilIdle();
  }

  /** Returns a false result to the caller, without executing the call. */
  async answerWith(answer: ScriptedAnswer): Promise<void> {
    this.onSettled(this);
    this.resolve(answer);
    await untilIdle();
  }

  async fail(error: unknown): Promise<void> {
    this.onSettled(this);
    this.reject(error);
    await untilIdle();
  }

  /** Executes the call and loses the reply. */
  async loseReply(): Promise<void> {
    await this.execute();
    await this.lose();
  }

  /** Breaks the connection of the caller. The test decides whether `execute` follows. */
  lose(): Promise<void> {
    return this.fail(new OutcomeUnknown('the connection broke'));
  }

  /** Fails the call as unavailable: it is not executed, and never will be. */
  refuse(): Promise<void> {
    if (this.executed) throw new Error('a call that was executed cannot be refused');
    return this.fail(new StoreUnavailable('the store refuses'));
  }

  /** Fails the call with a bug, before or after its execution: the caller cannot know which. */
  failWithBug(): Promise<void> {
    return this.fail(new TypeError('undefined is not a function'));
  }

  /** The caller never gets a result. */
  hang(): void {
    this.onSettled(this);
  }
}

/** An event store whose calls the test controls one by one, as if it were the network. */
export class ScriptedStore<Event> implements EventStore {
  /** The calls that wait for the test, in order of arrival. */
  readonly calls: StoreCall[] = [];
  /** All calls so far. */
  readonly requests: CallRequest[] = [];
  /** While false, every call is executed and answered at once. */
  held = true;
  /** While false, subscribers get no notification. */
  notifies = true;
  /** Subscribers that wait for a notification. */
  subscribers = 0;

  #store: EventStore;
  /** The version that each archived stream begins at. */
  readonly #oldest = new Map<string, number>();
  #foreignCommits = 0;

  /** @param open creates the empty store that executes the calls. */
  constructor(
    private readonly codec: Codec<Event>,
    private readonly open: () => EventStore = () => new MemoryEventStore(),
  ) {
    this.#store = open();
  }

  read(stream: string, after: Head): Promise<ReadResult> {
    return this.#receive({ kind: 'read', stream, after }, () =>
      this.#isArchived(stream, after)
        ? Promise.resolve({ status: 'archived' })
        : this.#store.read(streamName(stream), after),
    );
  }

  append(
    stream: string,
    after: Head,
    commit: string,
    events: readonly EncodedEvent[],
  ): Promise<AppendResult> {
    return this.#receive({ kind: 'append', stream, after, commit, events }, () =>
      this.#isArchived(stream, after)
        ? Promise.resolve({ status: 'archived' })
        : this.#store.append(streamName(stream), after, commit, events),
    );
  }

  notify(stream: StreamName, after: Head, changed: () => void): () => void {
    this.subscribers++;
    const cancel = this.#store.notify!(stream, after, () => this.notifies && changed());
    return () => {
      this.subscribers--;
      cancel();
    };
  }

  /** The only waiting call. */
  get sole(): StoreCall {
    if (this.calls.length !== 1) throw new Error(`${this.calls.length} calls are waiting, not one`);
    return this.calls[0]!;
  }

  /** From now on, `stream` begins with event `version`. */
  archive(stream: string, version: number): void {
    this.#oldest.set(stream, version);
  }

  #isArchived(stream: string, { version }: Head): boolean {
    const oldest = this.#oldest.get(stream) ?? 1;
    return oldest > 1 && version < oldest;
  }

  /** All events of `stream`, with those that were archived. */
  async history(stream: string): Promise<RecordedEvent<Event>[]> {
    const history: RecordedEvent<Event>[] = [];
    for (let more = true; more;) {
      const page = await this.#store.read(streamName(stream), history.at(-1) ?? BEGINNING);
      if (page.status !== 'read') throw new Error('a history that was just read is lost');
      for (const stored of page.events) history.push(recordedEvent(this.codec, stored));
      more = page.more;
    }
    return history;
  }

  /** Another writer records `events`, one append for each. */
  async record(stream: string, ...events: readonly Event[]): Promise<void> {
    for (const event of events) {
      await this.recordCommit(stream, event);
    }
  }

  /** Another writer records `events` as one append. */
  async recordCommit(stream: string, ...events: readonly Event[]): Promise<void> {
    const head = (await this.history(stream)).at(-1) ?? BEGINNING;
    await this.#store.append(
      streamName(stream),
      head,
      `other-writer-${++this.#foreignCommits}`,
      events.map((event) => this.codec.encode(event)),
    );
  }

  /** A failover to a replica that has only the first `version` events of `stream`, and no other stream. */
  async loseTail(stream: string, version: number): Promise<void> {
    const kept = (await this.history(stream)).slice(0, version);
    this.#store = this.open();
    this.#oldest.clear();
    let head = BEGINNING;
    for (const { version, commit, type, data } of kept) {
      await this.#store.append(streamName(stream), head, commit, [{ type, data }]);
      head = { version, commit };
    }
  }

  #receive<T extends ScriptedAnswer>(request: CallRequest, run: () => Promise<T>): Promise<T> {
    this.requests.push(request);
    if (!this.held) return run();
    return new Promise<T>((resolve, reject) => {
      const onSettled = (call: StoreCall) => {
        const index = this.calls.indexOf(call);
        if (index === -1) throw new Error('this call is settled');
        this.calls.splice(index, 1);
      };
      this.calls.push(
        new StoreCall(request, run, resolve as (answer: ScriptedAnswer) => void, reject, onSettled),
      );
    });
  }
}
