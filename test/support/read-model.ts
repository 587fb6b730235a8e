import { MemoryCheckpoints } from '../../src/adapters/memory';
import type { Batch, RecordedEvent, Slice, StreamName } from '../../src/event-sourcing';

/**
 * Keeps the events of each stream together with the checkpoint: a transaction changes both, or none of
 * them.
 */
export class ReadModel<Event> extends MemoryCheckpoints {
  readonly #applied = new Map<StreamName, readonly RecordedEvent<Event>[]>();
  /** Events that were not applied after the one before them. */
  readonly violations: string[] = [];

  /** What was applied of a stream. */
  of(stream: StreamName): readonly RecordedEvent<Event>[] {
    return this.#applied.get(stream) ?? [];
  }

  /** The streams of which anything was ever applied. */
  applied(): readonly StreamName[] {
    return [...this.#applied.keys()];
  }

  async transaction({ slices, checkpointWrite }: Batch<Event>): Promise<void> {
    await this.save(checkpointWrite);
    this.apply(slices);
  }

  apply(slices: readonly Slice<Event>[]): void {
    for (const { stream, restarts, events } of slices) {
      const applied = [...(restarts ? [] : this.of(stream)), ...events];
      const wrong = applied.find(({ version }, at) => version !== at + 1);
      if (wrong) this.violations.push(`${stream}: event ${wrong.version} follows another one`);
      this.#applied.set(stream, applied);
    }
  }
}
