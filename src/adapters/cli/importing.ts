import { type Hash, createHash } from 'node:crypto';
import { type EventStore, type Head, type StreamCatalogue, type User, replay } from '../../application';
import type { RecordedCommit, StreamEnd } from './event-file';
import { eventLine } from './event-lines';

/** How many calls to the store may be under way. */
const WINDOW = 64;

/** A stream that was not, or not wholly, imported. */
export interface RefusedStream {
  readonly stream: User;
  readonly why: string;
}

export interface Imported {
  readonly streams: number;
  readonly events: number;
  readonly refused: readonly RefusedStream[];
}

/** Where to. */
export interface Target {
  readonly store: EventStore;
  readonly catalogue: StreamCatalogue;
}

export interface ImportObserver {
  /** So many more events of the export are in the store, or were there before. */
  recorded(events: number): void;
}

/**
 * Makes every append of an export again, at the same head and with the same
 * commit id, from where the stream in the store ends now. So the store itself
 * tells what is in the way (a conflict, or another history at that head, and
 * nothing is written), and an append that landed although its reply was lost
 * does no harm. When a stream is done it is read back from its beginning and
 * compared, what was there before included. Which makes it safe to run again,
 * however far it came.
 *
 * Appends are sent without waiting for those before them, in order: each builds
 * on the head that the one before it leads to, and is refused where that one
 * was not recorded. A store may carry them out in another order (Redis does
 * where it has forgotten the script and another client loads it again): one that
 * was refused is repeated once all before it have been answered.
 *
 * Rejects with what the store does, and with what reading the export does.
 */
export async function importEvents(
  units: AsyncIterable<RecordedCommit | StreamEnd>,
  target: Target,
  observer: ImportObserver,
): Promise<Imported> {
  const refused: RefusedStream[] = [];
  const underWay: Promise<void>[] = [];
  let streams = 0;
  let events = 0;
  let current: StreamImport | undefined;

  const start = async (work: Promise<void>) => {
    // It is awaited later, or not at all where another one fails first.
    work.catch(() => {});
    underWay.push(work);
    if (underWay.length >= WINDOW) await underWay.shift();
  };

  for await (const unit of units) {
    const stream: StreamImport = (current ??= new StreamImport(unit.stream, target));
    if (unit.kind === 'commit') {
      await start(stream.append(unit).then((count) => observer.recorded(count)));
      continue;
    }
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
  await Promise.all(underWay);
  return { streams, events, refused };
}

class StreamImport {
  readonly #expected: Hash = createHash('sha256');
  /** At which version the stream ended when the import came to it. */
  readonly #present: Promise<number>;
  /** Settles when all appends so far have been answered. */
  #answered: Promise<unknown>;
  #refused = false;
  #added = false;

  constructor(
    private readonly stream: User,
    private readonly target: Target,
  ) {
    this.#present = target.catalogue.find(stream).then((found) => found?.version ?? 0);
    this.#answered = this.#present;
  }

  /** How many events it brought into the store, or left there to be compared. */
  append(commit: RecordedCommit): Promise<number> {
    this.#expected.update(commit.lines);
    const appended = this.#append(commit, this.#answered);
    this.#answered = Promise.all([this.#answered, appended]);
    this.#answered.catch(() => {});
    return appended;
  }

  /** Why it was refused; `undefined` where the store now holds what the export does. */
  async finish({ head }: StreamEnd): Promise<string | undefined> {
    await this.#answered;
    if (!this.#refused && (await this.#isThere(head))) return undefined;
    return this.#added
      ? 'was read back, and is not what the export holds: somebody else writes, or wrote, to it'
      : 'has another history in the store; it is as it was';
  }

  /** @param answered settles when all appends before this one have been answered. */
  async #append({ expected, commit, events }: RecordedCommit, answered: Promise<unknown>): Promise<number> {
    const present = await this.#present;
    if (this.#refused) return 0;
    if (expected.version + events.length <= present) return events.length;
    const append = () => this.target.store.append(this.stream, expected, commit, events);
    let { status } = await append();
    if (status === 'reset') {
      // The store may have carried it out before the append that it builds on.
      await answered;
      ({ status } = await append());
    }
    if (status === 'appended') this.#added = true;
    else this.#refused = true;
    return status === 'appended' ? events.length : 0;
  }

  async #isThere({ version }: Head): Promise<boolean> {
    const found = createHash('sha256');
    for await (const page of replay(this.target.store, this.stream)) {
      for (const event of page) if (event.version <= version) found.update(eventLine(this.stream, event));
      // What was recorded since is no part of the export.
      if ((page.at(-1)?.version ?? 0) >= version) break;
    }
    return found.digest('hex') === this.#expected.digest('hex');
  }
}
