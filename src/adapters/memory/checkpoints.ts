import { CheckpointConflict, type CheckpointStore, type CheckpointWrite } from '../../event-sourcing';

/** Keeps the checkpoint of one projection in the memory of this process, for development and tests. */
export class MemoryCheckpoints implements CheckpointStore {
  readonly #values = new Map<string, string>();

  load(keys: readonly string[]): (string | undefined)[] {
    return keys.map((key) => this.#values.get(key));
  }

  keys(prefix: string): string[] {
    return [...this.#values.keys()].filter((key) => key.startsWith(prefix));
  }

  async save({ key, expected, values }: CheckpointWrite): Promise<void> {
    if (this.#values.get(key) !== expected) throw new CheckpointConflict();
    for (const [each, value] of values) this.#values.set(each, value);
  }
}
