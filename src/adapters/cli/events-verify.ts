import {
  type AnyKind,
  ArchivedHistory,
  HistoryChanged,
  ReplayedState,
  type StreamName,
  UnreadableHistory,
  partsOf,
  replay,
} from '../../event-sourcing';
import { type ArchiveFiles, endOf, findArchives, readArchives } from './archives';
import { ANOTHER_BASE, startOf } from './base';
import {
  ARCHIVES,
  type CliCommand,
  JSON_OUTPUT,
  type CliStore,
  QUIET,
  SOME_USERS,
  withStore,
} from './command';
import type { ArchivedState } from './event-file';
import { type FoundStream, findStreams } from './found-streams';
import { NO_PROGRESS, progressOn } from './progress';
import { SnapshotCheck } from './snapshot-check';
import { OF_NO_KIND, shown } from './stream-text';
import { pluralize, escapeForTerminal } from './terminal';

/** A problem of a stream, or of a key that is not a stream. */
interface HistoryProblem {
  readonly stream?: StreamName;
  readonly problem: string;
}

export const eventsVerify: CliCommand = {
  name: 'events verify',
  summary: 'replay and check all histories',
  options: { ...SOME_USERS, ...ARCHIVES, ...QUIET, ...JSON_OUTPUT },
  details: [
    'Reads and replays every event as the service does. Reports gaps, unknown event types, violated rules,',
    'histories without their last events, snapshots that differ from the replay, streams of an unknown category, and',
    'foreign keys under the key prefix. Prints one problem per line, then the totals; the exit code is 1 if there is',
    'a problem. All histories are checked in any case. The command only reads, so it can run while services do.',
    'Of a stream whose first events were archived, it replays the later ones on the base snapshot. With --archive for each',
    'archive it replays all of them, and compares the base snapshot with the replay.',
    '',
    '  plant-store events verify',
    '  plant-store events verify --user alice --json',
  ],
  run: (args, context) => {
    const users = args.users();
    const { kinds } = context;
    return withStore(context, async (opened) => {
      const { stdout, stderr } = context.terminal;
      const json = args.has('json');
      const progress = args.has('quiet') ? NO_PROGRESS : progressOn(stderr, context.clock, 'events checked');
      const sum = { streams: 0, events: 0, problems: 0 };
      const items = new Map<AnyKind, number>();
      const report = async (problem: HistoryProblem) => {
        sum.problems++;
        await progress.end();
        const where = problem.stream === undefined ? '' : `${shown(problem.stream)}: `;
        await stdout.line(json ? JSON.stringify(problem) : `${where}${escapeForTerminal(problem.problem)}`);
      };

      const archives = await findArchives(args.texts('archive'), kinds, users);
      const found = await findStreams(opened.catalogue, kinds, users);
      for (const problem of found.foreign) await report({ problem });
      for (const stream of found.unknown) await report({ stream, problem: `a stream ${OF_NO_KIND}` });
      const stored = new Set(found.streams.map(({ stream }) => stream));
      const lost = [...archives.keys()].filter((stream) => !stored.has(stream));
      for (const stream of lost) await report({ stream, problem: 'nothing is stored' });
      for (const user of found.missing.filter((each) => !lost.some((stream) => partsOf(stream).id === each)))
        await report({ problem: `nothing is stored for ${user}` });
      for (const catalogued of found.streams) {
        const { stream } = catalogued;
        const check: StreamCheck = new StreamCheck(opened, catalogued, archives.get(stream), () =>
          progress.advance(sum.events + check.events, found.events),
        );
        const problem = await check.run();
        if (problem !== undefined) await report({ stream, problem });
        sum.streams++;
        sum.events += check.events;
        items.set(catalogued.kind, (items.get(catalogued.kind) ?? 0) + check.items);
      }
      await progress.end();
      if (json) await stdout.line(totalsInJson(sum, items));
      else if (!args.has('quiet')) await stdout.line(totals(sum, items));
      return sum.problems === 0 ? 'done' : 'refused';
    });
  },
};

type Sum = Readonly<Record<'streams' | 'events' | 'problems', number>>;

/** @param items by the kind of the streams. */
function totals({ streams, events, problems }: Sum, items: ReadonlyMap<AnyKind, number>): string {
  const counts = [...items].map(([{ item }, count]) => pluralize(count, item));
  const checked = [pluralize(streams, 'stream'), pluralize(events, 'event'), ...counts].join(', ');
  return `${checked}: ${problems === 0 ? 'no problems' : pluralize(problems, 'problem')}.`;
}

function totalsInJson({ problems, ...sum }: Sum, items: ReadonlyMap<AnyKind, number>): string {
  const counts = Object.fromEntries([...items].map(([{ category }, count]) => [category, count]));
  return JSON.stringify({ ...sum, ...counts, problems });
}

/** Replays one history up to its first problem. */
class StreamCheck {
  #state: ReplayedState;
  /** Number of events before the first one that was replayed. */
  #skipped = 0;

  constructor(
    private readonly opened: CliStore,
    private readonly catalogued: FoundStream,
    private readonly archives: ArchiveFiles | undefined,
    private readonly onPage: () => Promise<void>,
  ) {
    this.#state = new ReplayedState(catalogued.kind);
  }

  /** Number of events that were replayed. */
  get events(): number {
    return this.#state.head.version - this.#skipped;
  }

  /** Number of items in the state. */
  get items(): number {
    return this.#state.items;
  }

  /** Resolves with the first problem. Throws `StoreUnavailable`, and `Refused` if an archive cannot be read. */
  async run(): Promise<string | undefined> {
    const checks: SnapshotCheck[] = [];
    try {
      const start = await this.#start();
      this.#state = start.state;
      checks.push(...(await this.#snapshotChecks()));
      for (const check of checks) check.begin(this.#state);
      await this.#replay(start, checks);
    } catch (error) {
      if (error instanceof UnreadableHistory) return error.message;
      if (error instanceof ArchivedHistory) return `${error.message}, and --archive does not have them`;
      if (error instanceof HistoryChanged) return `${error.message}; verify it again`;
      throw error;
    }
    const { version } = this.#state.head;
    return (await this.#lostEnd()) ?? checks.map((check) => check.end(version)).find((one) => one);
  }

  /** Where the events in the store begin: after the archives, after the base, or at the beginning. */
  async #start(): Promise<ArchivedState> {
    const { stream } = this.catalogued;
    if (this.archives === undefined) {
      const start = await startOf(this.opened, this.catalogued);
      this.#skipped = start.head.version;
      return start;
    }
    const end = await endOf(readArchives(this.catalogued, this.archives));
    const base = await this.opened.snapshots?.loadBase?.(stream);
    if (base?.head.version === end.head.version && base.archive !== end.archive)
      throw new UnreadableHistory(
        `its base snapshot was taken from another archive, with the seal ${base.archive}`,
      );
    return end;
  }

  /** Reads the snapshots to compare with the replay: not the base that the replay begins with. */
  async #snapshotChecks(): Promise<SnapshotCheck[]> {
    const { snapshots } = this.opened;
    const { kind, stream } = this.catalogued;
    const newest = await SnapshotCheck.of('snapshot', kind, () => snapshots?.load(stream));
    if (this.#skipped > 0) return [newest];
    return [newest, await SnapshotCheck.of('base snapshot', kind, () => snapshots?.loadBase?.(stream))];
  }

  async #replay({ head }: ArchivedState, checks: readonly SnapshotCheck[]): Promise<void> {
    const { stream, kind } = this.catalogued;
    try {
      for await (const page of replay(this.opened.store, stream, kind.codec, head)) {
        for (const event of page) {
          this.#state.apply(event);
          for (const check of checks) check.replayed(this.#state);
        }
        await this.onPage();
      }
    } catch (error) {
      const another =
        error instanceof HistoryChanged && head.version > 0 && this.#state.head.version === head.version;
      throw another ? new UnreadableHistory(this.archives ? ANOTHER_ARCHIVE : ANOTHER_BASE) : error;
    }
  }

  async #lostEnd(): Promise<string | undefined> {
    const { stream, version } = this.catalogued;
    const { version: end } = this.#state.head;
    // A stream that was erased meanwhile has no problem.
    return end < version && (await this.opened.catalogue.find(stream)) !== undefined
      ? `ends at version ${end}, but its last version is ${version}: the last events were deleted`
      : undefined;
  }
}

const ANOTHER_ARCHIVE = 'its history in the store does not continue its archives';
