import { MemoryEventStore, MemoryLeases } from '../../src/adapters/memory';
import {
  BEGINNING,
  CheckpointConflict,
  type CheckpointStore,
  type CheckpointWrite,
  type EventStore,
  type Head,
  type Snapshot,
  type StoredEvent,
  type StreamArchive,
  type StreamCatalogue,
  type StreamName,
  UnreadableHistory,
  headOf,
  headOfText,
  isSameHead,
  partsOfKey,
} from '../../src/event-sourcing';
import { type KeptBase, MemorySnapshots } from '../support/memory-snapshots';

/** Maximum number of events of a page. */
export const PAGE_SIZE = 3;
/** Number of entries that the feed keeps. */
export const FEED_LENGTH = 200;

/** What outlives the stores over it. */
export class Disk implements EventStore, StreamCatalogue, StreamArchive {
  #events = new MemoryEventStore(PAGE_SIZE, FEED_LENGTH);
  readonly #drafts = new Map<StreamName, KeptBase>();
  /** The version of the first event of each stream from which archived events were removed. */
  readonly #oldest = new Map<string, number>();
  readonly snapshots = new DiskSnapshots((stream, head) => this.#has(stream, head));

  async read(...args: Parameters<EventStore['read']>) {
    return (await this.#before(args[0], args[1])) ?? this.#events.read(...args);
  }

  async append(...args: Parameters<EventStore['append']>) {
    return (await this.#before(args[0], args[1])) ?? this.#events.append(...args);
  }

  async saveBase(...[stream, base, replaced, check]: Parameters<StreamArchive['saveBase']>) {
    const draft = { ...base, chunks: [...base.chunks] };
    this.#drafts.set(stream, draft);
    const isValid = async () =>
      (await this.#has(stream, base.head)) && (this.#base(stream)?.version ?? 0) === replaced;
    if (!(await isValid())) return false;
    await check({ ...draft, chunks: this.snapshots.read(draft) });
    if (!(await isValid()) || this.#drafts.get(stream) !== draft) return false;
    this.snapshots.bases.set(stream, draft);
    return true;
  }

  async trim(stream: StreamName, head: Head) {
    const base = this.#base(stream);
    if (base === undefined || !isSameHead(base, head) || !(await this.#has(stream, head))) return undefined;
    const oldest = this.#oldest.get(stream) ?? 1;
    this.#oldest.set(stream, head.version);
    return head.version - oldest;
  }

  async bytes() {
    return undefined;
  }

  streams() {
    return this.#events.streams();
  }

  find(stream: StreamName) {
    return this.#events.find(stream);
  }

  readonly leases = new MemoryLeases();
  readonly #checkpoints = new Map<string, DiskCheckpoints>();

  checkpoints(projection: string): DiskCheckpoints {
    const store = this.#checkpoints.get(projection) ?? new DiskCheckpoints(this);
    this.#checkpoints.set(projection, store);
    return store;
  }

  get feed() {
    return this.#events.feed;
  }

  async erase(stream: StreamName): Promise<number> {
    const events = await this.eraseEvents(stream);
    this.eraseHeads((key) => key.stream === stream);
    return events;
  }

  eraseHeads(isErased: (key: ReturnType<typeof partsOfKey>) => boolean): void {
    for (const { values } of this.#checkpoints.values())
      for (const key of values.keys()) if (isErased(partsOfKey(key))) values.delete(key);
  }

  async eraseEvents(stream: StreamName): Promise<number> {
    const oldest = this.#oldest.get(stream) ?? 1;
    this.snapshots.bases.delete(stream);
    this.#oldest.delete(stream);
    this.snapshots.kept.delete(stream);
    return Math.max(0, (await this.#events.erase(stream)) - oldest + 1);
  }

  async loseEvents(stream: StreamName): Promise<void> {
    await this.#events.erase(stream);
    this.#oldest.delete(stream);
  }

  /** The result of a call at a head before the first event of the stream; `undefined` for any other head. */
  async #before(stream: StreamName, { version }: Head) {
    const base = this.#base(stream);
    if (version === 0 && base !== undefined && !(await this.#has(stream, base)))
      throw new UnreadableHistory();
    const isArchived = (this.#oldest.get(stream) ?? 1) > Math.max(1, version);
    return isArchived ? ({ status: 'archived' } as const) : undefined;
  }

  #base(stream: StreamName): Head | undefined {
    return this.snapshots.bases.get(stream)?.head;
  }

  async #has(stream: StreamName, head: Head): Promise<boolean> {
    return (await this.#events.read(stream, head)).status === 'read';
  }

  async reload(change: (recorded: StoredEvent) => StoredEvent): Promise<void> {
    const before = this.#events;
    this.#events = new MemoryEventStore(PAGE_SIZE, FEED_LENGTH);
    for await (const { stream } of before.streams()) {
      let head = BEGINNING;
      for (const recorded of await wholeHistory(before, stream)) {
        const { version, commit, ...event } = change(recorded);
        await this.#events.append(stream, head, commit, [event]);
        head = { version, commit };
      }
    }
  }
}

export class DiskCheckpoints implements CheckpointStore {
  readonly values = new Map<string, string>();

  constructor(readonly disk: Disk) {}

  load(keys: readonly string[]): (string | undefined)[] {
    return keys.map((key) => this.values.get(key));
  }

  keys(prefix: string): string[] {
    return [...this.values.keys()].filter((key) => key.startsWith(prefix));
  }

  async save(write: CheckpointWrite): Promise<void> {
    for (const [key, value] of write.values) {
      const { stream } = partsOfKey(key);
      if (stream === undefined || value === undefined) continue;
      if ((await this.disk.read(stream, headOfText(value))).status === 'reset')
        throw new CheckpointConflict();
    }
    return this.saveAny(write);
  }

  /** Also heads that their streams do not have. */
  async saveAny({ key, expected, values }: CheckpointWrite): Promise<void> {
    if (this.values.get(key) !== expected) throw new CheckpointConflict();
    for (const [each, value] of values)
      if (value === undefined) this.values.delete(each);
      else this.values.set(each, value);
  }
}

export class DiskSnapshots extends MemorySnapshots {
  readonly #saving = new Set<StreamName>();

  constructor(private readonly has: (stream: StreamName, head: Head) => Promise<boolean>) {
    super();
  }

  override async save(stream: StreamName, { format, head, chunks }: Snapshot): Promise<boolean> {
    if (this.#saving.has(stream)) return false;
    this.#saving.add(stream);
    try {
      const taken: string[] = [];
      for (const chunk of chunks) {
        await this.step();
        taken.push(chunk);
      }
      if (!(await this.has(stream, head))) return false;
      this.keep(stream, { format, head, chunks: taken });
      return true;
    } finally {
      this.#saving.delete(stream);
    }
  }
}

export async function wholeHistory(store: EventStore, stream: StreamName): Promise<StoredEvent[]> {
  const history: StoredEvent[] = [];
  for (let more = true; more;) {
    const page = await store.read(stream, headOf(history.at(-1) ?? BEGINNING));
    if (page.status !== 'read') break;
    history.push(...page.events);
    more = page.more;
  }
  return history;
}
