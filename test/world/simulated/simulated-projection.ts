import { isDeepStrictEqual } from 'node:util';
import { MemoryCheckpoints } from '../../../src/adapters/memory';
import { plantCodec, plantListCodec } from '../../../src/application';
import { type PlantEvent, PlantList } from '../../../src/domain';
import {
  BEGINNING,
  type Batch,
  type Clock,
  type Head,
  type Projection,
  type StreamName,
  headKeyOf,
  headOf,
  headOfText,
  project,
} from '../../../src/event-sourcing';
import type { RedisModel } from './redis-model';
import type { SimulatedProcess } from './simulated-process';
import type { SimulatedStores } from './store-network';
import { STREAMS } from './users';

/** What was applied of a stream: the base of archived events, and those after it. */
interface Applied {
  readonly base: Head;
  readonly events: readonly Head[];
}

const NOTHING: Applied = { base: BEGINNING, events: [] };

/** A database with the events that projections have applied. It has transactions, and survives the processes. */
export class SimulatedReadModel extends MemoryCheckpoints {
  readonly problems = new Set<string>();
  readonly #applied = new Map<StreamName, Applied>();
  /** Applied commits that the store has lost, and no projection has reported. */
  readonly #unreported = new Set<string>();
  /** Those that one has reported: they stay applied until it has compared all streams. */
  readonly #reported = new Set<string>();

  constructor(private readonly model: RedisModel) {
    super();
  }

  async commit({ slices, checkpoint }: Batch<PlantEvent, PlantList>): Promise<void> {
    await super.save(checkpoint);
    for (const { stream, restarts, base, events } of slices) {
      const head = headOfText(checkpoint.values.get(headKeyOf(0, stream)));
      const before = restarts ? { ...NOTHING, base: base ? head : BEGINNING } : this.#of(stream);
      const applied = [...before.events];
      for (const event of events) {
        const last = (applied.at(-1) ?? before.base).version;
        if (event.version !== last + 1)
          this.problems.add(`a read model applies event ${event.version} of ${stream} after ${last}`);
        applied.push(headOf(event));
        this.#reported.delete(event.commit);
      }
      this.#applied.set(stream, { ...before, events: applied });
    }
    this.noteLosses();
  }

  /** Called after the store has lost commits. */
  noteLosses(): void {
    for (const [stream, { events }] of this.#applied)
      for (const { version, commit } of events)
        if (this.model.history(stream)[version - 1]?.commit !== commit && !this.#reported.has(commit))
          this.#unreported.add(commit);
  }

  reportLosses(): void {
    for (const commit of this.#unreported) this.#reported.add(commit);
    this.#unreported.clear();
  }

  /** Whether it has exactly the events that are recorded. */
  get isCurrent(): boolean {
    return STREAMS.every((stream) => {
      const { base, events } = this.#of(stream);
      return isDeepStrictEqual(events, this.model.history(stream).slice(base.version).map(headOf));
    });
  }

  /** The commits that were lost, without a report, and not recorded again by a repeated append. */
  get silentLosses(): string[] {
    const recorded = new Set(
      STREAMS.flatMap((stream) => this.model.history(stream).map(({ commit }) => commit)),
    );
    return [...this.#unreported].filter((commit) => !recorded.has(commit));
  }

  #of(stream: StreamName): Applied {
    return this.#applied.get(stream) ?? NOTHING;
  }
}

/** How long a transaction takes, in ms. */
export interface TransactionTimes {
  readonly commitMs: number;
  readonly replyMs: number;
}

/** A projection in a process. A transaction that a process has begun is committed although the process dies. */
export class SimulatedProjection {
  readonly #projection: Projection<PlantEvent, PlantList>;
  #times: TransactionTimes;

  constructor(
    readonly process: SimulatedProcess,
    stores: SimulatedStores,
    readonly times: TransactionTimes,
    private readonly readModel: SimulatedReadModel,
    private readonly time: Clock,
  ) {
    this.#times = times;
    this.#projection = project<PlantEvent, PlantList>(stores, {
      codec: plantCodec,
      clock: process.clock,
      checkpoint: readModel,
      apply: (batch) => this.#apply(batch),
      base: { codec: plantListCodec, initialState: () => PlantList.from([]) },
      lostTail: () => readModel.reportLosses(),
    });
  }

  /** Transactions end at once from now on. */
  hurry(): void {
    this.#times = { commitMs: 0, replyMs: 0 };
  }

  /** Ends it. Of a process that died, nothing resolves. */
  close(): Promise<void> {
    return this.#projection.close();
  }

  async #apply(batch: Batch<PlantEvent, PlantList>): Promise<void> {
    const { commitMs, replyMs } = this.#times;
    await this.#pass(commitMs);
    await this.readModel.commit(batch);
    await this.#pass(replyMs);
    if (!this.process.alive) await new Promise<never>(() => {});
  }

  async #pass(ms: number): Promise<void> {
    if (ms > 0) await new Promise<void>((resolve) => void this.time.after(ms, resolve));
  }
}
