import type { Clock } from '../../../src/event-sourcing';
import { AWAY, type KeptBase, type KeptSnapshot, MemorySnapshots } from '../../support/memory-snapshots';
import type { SnapshotState } from './schedule';

/** The snapshots of all instances, and how their store behaves. */
export interface SharedSnapshots {
  readonly kept: Map<string, KeptSnapshot[]>;
  readonly bases: Map<string, KeptBase>;
  are: SnapshotState;
}

/** The store of snapshots as one instance calls it. It misbehaves as a schedule says. */
export class SimulatedSnapshots extends MemorySnapshots {
  constructor(
    private readonly shared: SharedSnapshots,
    private readonly clock: Clock,
    private readonly isAlive: () => boolean,
  ) {
    super(shared.kept, shared.bases);
  }

  protected override chosen(stream: string): KeptSnapshot | undefined {
    const { are, kept } = this.shared;
    if (are === 'old') return kept.get(stream)?.[0];
    if (are === 'foreign') return [...kept.values()].find((own) => own !== kept.get(stream))?.at(-1);
    const newest = this.newest(stream);
    if (are === 'torn' && newest) {
      const last = newest.chunks.at(-1)!;
      return { ...newest, chunks: [...newest.chunks.slice(0, -1), last.slice(1)] };
    }
    return newest;
  }

  protected override async step(): Promise<void> {
    // A process that died calls nothing any more.
    if (!this.isAlive()) await new Promise<never>(() => {});
    if (this.shared.are === 'slow') await new Promise<void>((resolve) => void this.clock.after(15, resolve));
    if (this.shared.are === 'unavailable') throw AWAY;
  }
}
