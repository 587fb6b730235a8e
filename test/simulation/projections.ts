/** Projections into a read model. */
import { MemoryCheckpoints } from '../../src/adapters/memory';
import { type Batch, type Projection, project } from '../../src/event-sourcing';
import type { Instance } from './instance';
import { type Write, plantKind } from './plant-kind';
import type { RedisModel } from './redis-model';

/** A database with the commits that were applied. It has transactions, and survives the processes. */
export class ReadModel extends MemoryCheckpoints {
  readonly #applied = new Map<string, readonly string[]>();
  /** Transactions that a process has begun before it died. */
  readonly late: (() => Promise<void>)[] = [];

  constructor(private readonly report: (problem: string) => void) {
    super();
  }

  async commit({ slices, checkpoint }: Batch<Write>): Promise<void> {
    await this.save(checkpoint);
    for (const { stream, restarts, events } of slices) {
      const applied = restarts ? [] : [...(this.#applied.get(stream) ?? [])];
      for (const { version, commit } of events)
        if (applied.push(commit) !== version)
          this.report(`a read model applies event ${version} of ${stream} as number ${applied.length}`);
      this.#applied.set(stream, applied);
    }
  }

  commitLate(): void {
    // Most are refused, because another worker has moved the checkpoint.
    for (const commit of this.late.splice(0)) commit().catch(() => {});
  }

  /** How it differs from what is recorded of a stream. */
  difference(stream: string, redis: RedisModel): string | undefined {
    const recorded = redis.history(stream).map(({ commit }) => commit);
    const applied = this.#applied.get(stream) ?? [];
    if (recorded.join() !== applied.join())
      return `${stream} has ${recorded.join()}, a read model ${applied.join()}`;
    const isKnown = this.keys(`${redis.bucketOf(stream)}/`).some((key) =>
      key.endsWith(encodeURIComponent(stream)),
    );
    return isKnown === recorded.length > 0 ? undefined : `a checkpoint is wrong about ${stream}`;
  }
}

/** When a process dies: before a transaction of its projection, after it, or before one that is committed later. */
export const CRASHES = ['before', 'after', 'late'] as const;

/** Applies all streams to the read model, in the process of an instance. */
export class Projector {
  crash: (typeof CRASHES)[number] | undefined;
  readonly projection: Projection<Write>;

  constructor(
    { ports, clock }: Instance,
    private readonly model: ReadModel,
    private readonly die: () => void,
  ) {
    const apply = (batch: Batch<Write>) => this.#apply(batch);
    this.projection = project(ports, {
      kinds: [plantKind],
      clock,
      checkpoint: model,
      apply,
      observe: () => {},
    });
  }

  async #apply(batch: Batch<Write>): Promise<void> {
    const { crash, model } = this;
    if (crash === undefined || crash === 'after') await model.commit(batch);
    if (crash === undefined) return;
    if (crash === 'late') model.late.push(() => model.commit(batch));
    this.die();
    // Of a process that died, nothing resolves.
    await new Promise<never>(() => {});
  }
}
