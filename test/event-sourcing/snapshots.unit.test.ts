import { BrokenSnapshot } from '../../src/event-sourcing';
import { AWAY, type KeptSnapshot, MemorySnapshots } from '../support/memory-snapshots';
import { counterKind } from './counter';
import { type AggregateOptions, OneAggregate } from './one-aggregate';
import { type Steps, describeCases } from './script';

class Snapshots extends MemorySnapshots {
  #stalled = Promise.resolve();
  go = (): void => {};
  /** How many snapshots have been read, or are not read any more. */
  closed = 0;

  stall(): void {
    this.#stalled = new Promise((resolve) => (this.go = resolve));
  }

  /** Whether calls stall only when they begin to save. */
  onlySaves = false;

  override async save(...args: Parameters<MemorySnapshots['save']>): Promise<boolean> {
    await this.#stalled;
    return super.save(...args);
  }

  protected override async step(): Promise<void> {
    if (!this.onlySaves) await this.#stalled;
    await super.step();
  }

  override async *read(snapshot: KeptSnapshot): AsyncGenerator<string> {
    try {
      for await (const chunk of super.read(snapshot)) {
        if (chunk === 'broken') throw new BrokenSnapshot('its checksum differs');
        yield chunk;
      }
    } finally {
      this.closed++;
    }
  }
}

/** How a snapshot of the first events is changed before it is stored. */
const CHANGES: Readonly<Record<string, (usable: KeptSnapshot) => Partial<KeptSnapshot>>> = {
  'whose head is event 10': ({ head }) => ({ head: { ...head, version: 10 } }),
  'of an unknown format': () => ({ format: 'sum-2' }),
  'of an obsolete format': () => ({ format: 'sum-0' }),
  'of an earlier format': ({ head }) => ({ format: 'halves-1', chunks: [`${head.version / 2}`] }),
  // The chunk after the one that cannot be decoded is read already, and fails.
  'with a torn chunk': ({ chunks }) => ({ chunks: [chunks[0]!, '[', 'broken'] }),
  'with a torn first chunk': ({ chunks }) => ({ chunks: ['[', ...chunks, ...chunks] }),
  'with a broken last chunk': ({ chunks }) => ({ chunks: [...chunks, 'broken'] }),
};

/** With pages of two events and a snapshot every six. */
class WithSnapshots extends OneAggregate {
  #shown = 'stored: nothing';

  constructor(
    { snapshotEvery = 6, ...options }: AggregateOptions & { readonly snapshotEvery?: number },
    private readonly snapshots = new Snapshots(),
  ) {
    super({ pageSize: 2, ...options, snapshots: { store: snapshots, every: snapshotEvery } });
  }

  override get steps(): Steps {
    const { snapshots } = this;
    const others = super.steps['another instance records …']!;
    return {
      'another instance adds 1, _ times': (count) => others('+1 '.repeat(Number(count)).trim()),
      'a snapshot of _ events… is stored': (count, change) =>
        this.#store(Number(count), change.trim()),
      'the stored snapshot is erased': () => void snapshots.kept.delete('ada'),
      'the snapshot store stalls': () => snapshots.stall(),
      'saves of the snapshot store stall': () => {
        snapshots.onlySaves = true;
        snapshots.stall();
      },
      'the snapshot store continues': () => snapshots.go(),
      'the snapshot store is unavailable': () => void (snapshots.fault = AWAY),
      'the snapshot store is available again': () => void (snapshots.fault = undefined),
      'the number of snapshots that were read or dropped': () => snapshots.closed,
      ...super.steps,
    };
  }

  override happened(): (string | false)[] {
    const calls = this.snapshots.calls.splice(0);
    const { head, format, chunks } = this.snapshots.kept.get('ada') ?? {};
    const before = this.#shown;
    this.#shown = head
      ? `stored: event ${head.version}, format ${format}, chunks ${chunks!.join(' and ')}`
      : 'stored: nothing';
    return [
      ...super.happened(),
      calls.length > 0 && `snapshots: ${calls.join(', ')}`,
      this.#shown !== before && this.#shown,
    ];
  }

  async #store(version: number, change: string): Promise<void> {
    const { commit } = (await this.store.history('ada'))[version - 1]!;
    const { format, encode } = counterKind.stateCodec!;
    const usable = { format, head: { version, commit }, chunks: [...encode(version)] };
    this.snapshots.kept.set('ada', { ...usable, ...(change && CHANGES[change]!(usable)) });
  }
}

describeCases('snapshots.txt', (options: AggregateOptions) => new WithSnapshots(options));
