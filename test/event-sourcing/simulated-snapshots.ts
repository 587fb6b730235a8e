import type { Clock } from '../../src/event-sourcing';
import { AWAY, type KeptSnapshot, MemorySnapshots } from '../support/memory-snapshots';
import type { SnapshotState } from './schedule';

/** A store of snapshots that misbehaves as a schedule says. */
export class SimulatedSnapshots extends MemorySnapshots {
  are: SnapshotState = 'whole';

  constructor(private readonly clock: Clock) {
    super();
  }

  protected override chosen(stream: string): KeptSnapshot | undefined {
    if (this.are === 'old') return this.kept.get(stream)?.[0];
    if (this.are === 'foreign')
      return [...this.kept.values()].find((kept) => kept !== this.kept.get(stream))?.at(-1);
    const newest = this.newest(stream);
    if (this.are === 'torn' && newest)
      return { ...newest, chunks: newest.chunks.map((chunk) => chunk.slice(1)) };
    return newest;
  }

  protected override async step(): Promise<void> {
    if (this.are === 'slow') await new Promise<void>((resolve) => void this.clock.after(15, resolve));
    if (this.are === 'unavailable') throw AWAY;
  }
}
