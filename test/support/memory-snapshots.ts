import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type Base,
  type Snapshot,
  type SnapshotStore,
  StoreUnavailable,
  type StoredBase,
  type StoredSnapshot,
} from '../../src/event-sourcing';

export type KeptSnapshot = Snapshot<readonly string[]>;
export type KeptBase = Base<readonly string[]>;

/** Keeps snapshots in memory, each step of a call in a turn of its own. */
export class MemorySnapshots implements SnapshotStore {
  /** The calls so far: `load ada`, `save ada at 7`. */
  readonly calls: string[] = [];
  /** While set, every step fails with it. */
  fault: Error | undefined;

  /** @param kept all snapshots of each stream, the newest one last. @param bases the base of each stream. */
  constructor(
    readonly kept = new Map<string, KeptSnapshot[]>(),
    readonly bases = new Map<string, KeptBase>(),
  ) {}

  newest(stream: string): KeptSnapshot | undefined {
    return this.kept.get(stream)?.at(-1);
  }

  keep(stream: string, snapshot: KeptSnapshot): void {
    this.kept.set(stream, [...(this.kept.get(stream) ?? []), snapshot]);
  }

  async load(stream: string): Promise<StoredSnapshot | undefined> {
    this.calls.push(`load ${stream}`);
    await this.step();
    const snapshot = this.chosen(stream);
    return snapshot && { ...snapshot, chunks: this.read(snapshot) };
  }

  async loadBase(stream: string): Promise<StoredBase | undefined> {
    this.calls.push(`load base of ${stream}`);
    await this.step();
    const base = this.bases.get(stream);
    return base && { ...base, chunks: this.read(base) };
  }

  async save(stream: string, { format, head, chunks }: Snapshot): Promise<boolean> {
    this.calls.push(`save ${stream} at ${head.version}`);
    const taken: string[] = [];
    for (const chunk of chunks) {
      await this.step();
      taken.push(chunk);
    }
    await this.step();
    this.keep(stream, { format, head, chunks: taken });
    return true;
  }

  /** The snapshot that a load returns. */
  protected chosen(stream: string): KeptSnapshot | undefined {
    return this.newest(stream);
  }

  async *read({ chunks }: KeptSnapshot): AsyncGenerator<string> {
    for (const chunk of chunks) {
      await this.step();
      yield chunk;
    }
  }

  protected async step(): Promise<void> {
    await nextTurn();
    if (this.fault) throw this.fault;
  }
}

export const AWAY = new StoreUnavailable('the store of snapshots is away');
