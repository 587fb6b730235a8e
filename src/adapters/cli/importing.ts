import { type Hash, createHash } from 'node:crypto';
import {
  type AnyKind,
  ArchivedHistory,
  type Head,
  type StreamName,
  UnreadableHistory,
  replay,
} from '../../event-sourcing';
import type { CliStore } from './command';
import type { RecordedCommit, StreamEnd } from './event-file';
import { eventLine } from './event-lines';

/** Most calls to the store in flight. */
const MAX_CALLS_IN_FLIGHT = 64;

export interface Imported {
  readonly streams: number;
  readonly events: number;
  /** The streams that were not imported, or not completely. */
  readonly refused: readonly { readonly stream: StreamName; readonly why: string }[];
}

/** The store that is imported into. */
type ImportTarget = Pick<CliStore, 'store' | 'catalogue'>;

/**
 * Repeats every append of an export, with its expected head and commit id, after the stream's current end.
 *
 * The store detects a different history: the append results in `conflict` or `reset` and writes
 * nothing. An append is idempotent, so a lost reply does no harm. After the last commit the whole
 * stream is read back and compared with the export. So an import can be repeated at any time.
 *
 * Appends are pipelined in order: each expects the head that the one before it produces, and results
 * in `reset` if that one was not recorded. A store may execute them out of order (Redis does, if the
 * script is missing for the first and another client loads it before the second), so an append that
 * resulted in `reset` is repeated once after all earlier ones have been answered.
 *
 * Rejects with the errors of the store and of `units`.
 *
 * @param onRecorded is called with the number of further events of the export that are in the store. Some may have been
 * there before.
 */
export async function importEvents(
  units: AsyncIterable<RecordedCommit | StreamEnd>,
  target: ImportTarget,
  onRecorded: (events: number) => void,
): Promise<Imported> {
  const refused: Imported['refused'][number][] = [];
  const inFlight: Promise<void>[] = [];
  let streams = 0;
  let events = 0;
  let current: StreamImport | undefined;

  const start = async (work: Promise<void>) => {
    // Awaited later, or never if an earlier one fails: without this, Node would report an unhandled rejection.
    work.catch(() => {});
    inFlight.push(work);
    if (inFlight.length >= MAX_CALLS_IN_FLIGHT) await inFlight.shift();
  };

  for await (const unit of units) {
    if (unit.unit === 'commit') {
      const stream: StreamImport = (current ??= new StreamImport(unit.kind, unit.stream, target));
      await start(stream.append(unit).then(onRecorded));
      continue;
    }
    const stream = current!;
    current = undefined;
    await start(
      stream.finish(unit).then((why) => {
        if (why !== undefined) refused.push({ stream: unit.stream, why });
        else {
          streams++;
          events += unit.head.version;
        }
      }),
    );
  }
  await Promise.all(inFlight);
  return { streams, events, refused };
}

class StreamImport {
  readonly #expected: Hash = createHash('sha256');
  /** The version of the stream before the import. */
  readonly #present: Promise<number>;
  /** Settles when all appends so far have been answered. */
  #answered: Promise<unknown>;
  #refused = false;
  #unreadable: UnreadableHistory | undefined;
  #added = false;

  constructor(
    private readonly kind: AnyKind,
    private readonly stream: StreamName,
    private readonly target: ImportTarget,
  ) {
    this.#present = target.catalogue.find(stream).then((found) => found?.version ?? 0);
    this.#answered = this.#present;
  }

  /** Resolves with the number of events that are now in the store: appended, or there before and compared later. */
  append(commit: RecordedCommit): Promise<number> {
    this.#expected.update(commit.lines);
    const appended = this.#append(commit, this.#answered);
    this.#answered = Promise.all([this.#answered, appended]);
    this.#answered.catch(() => {});
    return appended;
  }

  /** Why the stream was refused; `undefined` if the store now holds the history of the export. */
  async finish({ head }: StreamEnd): Promise<string | undefined> {
    await this.#answered;
    try {
      if (this.#unreadable !== undefined) throw this.#unreadable;
      if (!this.#refused && (await this.#matchesExport(head))) return undefined;
    } catch (error) {
      if (error instanceof UnreadableHistory)
        return `has a history in the store that cannot be read: ${error.message}`;
      if (!(error instanceof ArchivedHistory)) throw error;
      return 'has archived events in the store, so the export cannot be compared with it; it is unchanged';
    }
    return this.#added
      ? 'was read back and differs from the export: another process writes, or wrote, to the stream'
      : 'has a different history in the store; it is unchanged';
  }

  /** @param answered settles when all appends before this one have been answered. */
  async #append({ expected, commit, events }: RecordedCommit, answered: Promise<unknown>): Promise<number> {
    const present = await this.#present;
    if (this.#refused) return 0;
    if (expected.version + events.length <= present) return events.length;
    const append = async () => {
      try {
        return (await this.target.store.append(this.stream, expected, commit, events)).status;
      } catch (error) {
        if (error instanceof UnreadableHistory) this.#unreadable = error;
        else throw error;
        return 'unreadable';
      }
    };
    let status = await append();
    if (status === 'reset') {
      // The store may have executed it before the append whose head it expects.
      await answered;
      status = await append();
    }
    if (status === 'appended') this.#added = true;
    else this.#refused = true;
    return status === 'appended' ? events.length : 0;
  }

  async #matchesExport({ version }: Head): Promise<boolean> {
    const found = createHash('sha256');
    for await (const page of replay(this.target.store, this.stream, this.kind.codec)) {
      for (const event of page)
        if (event.version <= version) found.update(eventLine(this.kind, this.stream, event));
      // Later events are not part of the export.
      if ((page.at(-1)?.version ?? 0) >= version) break;
    }
    return found.digest('hex') === this.#expected.digest('hex');
  }
}
