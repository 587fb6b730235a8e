import type {
  CheckpointStore,
  EventStore,
  Feed,
  LeaseStore,
  SnapshotStore,
  StreamArchive,
  StreamCatalogue,
  StreamName,
} from '../event-sourcing';

export interface OpenStore {
  readonly store: EventStore;
  /** Snapshots of the streams. */
  readonly snapshots?: SnapshotStore | undefined;
  /** Archives streams of the store. Needed with `loseEvents`. */
  readonly archive?: StreamArchive | undefined;
  /** The checkpoint of a projection. */
  readonly checkpoints?: ((projection: string) => CheckpointStore) | undefined;
  /** The leases of projections. */
  readonly leases?: LeaseStore | undefined;
  /** The feed of the store. Needed with `feedLength`. */
  readonly feed?: Feed | undefined;
  /** Erases streams of the store. Without it, cases of other ports that erase a stream check nothing. */
  readonly catalogue?: StreamCatalogue | undefined;
  /**
   * Closes the store. Called once, at the latest at the end of a case; calls to the store that follow must reject with
   * StoreUnavailable. Absent for a store that has nothing to close.
   */
  readonly close?: (() => void | Promise<void>) | undefined;
}

/** Where the store under test keeps its events. It can be opened several times. */
export class Place {
  #opened: OpenStore[] = [];

  constructor(
    private readonly openStore: () => OpenStore | Promise<OpenStore>,
    /** Makes the store that was opened last lose the reply of its next call. */
    readonly loseReply: () => void | Promise<void> = () => {},
    /** Deletes all events of a stream, and leaves its base. */
    readonly loseEvents: (stream: StreamName) => void | Promise<void> = () => {},
  ) {}

  /** The archive of the store that was opened last. */
  get archive(): StreamArchive {
    return this.#member('archive');
  }

  get feed(): Feed {
    return this.#member('feed');
  }

  get catalogue(): StreamCatalogue {
    return this.#member('catalogue');
  }

  get checkpoints(): (projection: string) => CheckpointStore {
    return this.#member('checkpoints');
  }

  get leases(): LeaseStore {
    return this.#member('leases');
  }

  get snapshots(): SnapshotStore {
    return this.#member('snapshots');
  }

  /** Whether a store has a catalogue. */
  get erases(): boolean {
    return this.#opened.at(-1)?.catalogue !== undefined;
  }

  async open(): Promise<EventStore> {
    const opened = await this.openStore();
    this.#opened.push(opened);
    return opened.store;
  }

  /** Closes all open stores. Resolves with whether each of them has a `close`. */
  async closeAll(): Promise<boolean> {
    const opened = this.#opened;
    this.#opened = [];
    for (const each of opened) await each.close?.();
    return opened.every(({ close }) => close !== undefined);
  }

  /** Opens the store again, as after a restart. */
  async reopen(): Promise<EventStore> {
    await this.closeAll();
    return this.open();
  }

  #member<Name extends keyof OpenStore>(name: Name): NonNullable<OpenStore[Name]> {
    const member = this.#opened.at(-1)?.[name];
    if (member == null) throw new Error(`these cases need the \`${name}\` that \`open\` returns`);
    return member;
  }
}
