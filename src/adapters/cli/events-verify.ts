import { plantCodec } from '../../application';
import {
  ArchivedHistory,
  type CataloguedStream,
  HistoryChanged,
  type StreamName,
  UnreadableHistory,
  replay,
} from '../../event-sourcing';
import { plantsOf } from '../../application';
import { ImpossibleHistory, PlantList } from '../../domain';
import { endOf, findArchives, readArchives } from './archives';
import { ANOTHER_BASE, startOf } from './base';
import { ARCHIVES, type Command, JSON_OUTPUT, type OpenStore, QUIET, SOME_USERS, withStore } from './command';
import type { ArchivedList } from './event-file';
import { findStreams } from './found-streams';
import { NO_PROGRESS, progressOn } from './progress';
import { SnapshotCheck } from './snapshot-check';
import { shown } from './stream-text';
import { pluralize, escapeForTerminal } from './terminal';

/** A problem of a stream, or of a key that is not a stream. */
interface HistoryProblem {
  readonly stream?: StreamName;
  readonly problem: string;
}

export const eventsVerify: Command = {
  name: 'events verify',
  summary: 'replay and check all histories',
  options: { ...SOME_USERS, ...ARCHIVES, ...QUIET, ...JSON_OUTPUT },
  details: [
    'Reads and replays every event as the service does. Reports gaps, unknown event types, violated rules,',
    'histories without their last events, snapshots that differ from the replay, and foreign keys under the key',
    'prefix. Prints one problem per line, then the totals; the exit code is 1 if there is a problem. All',
    'histories are checked in any case. The command only reads, so it can run while services do.',
    'Of a user whose first events were archived, it replays the later ones on the base snapshot. With --archive for each',
    'archive it replays all of them, and compares the base snapshot with the replay.',
    '',
    '  plant-store events verify',
    '  plant-store events verify --user alice --json',
  ],
  run: (args, context) => {
    const requested = args.users().map(plantsOf);
    return withStore(context, async (opened) => {
      const { stdout, stderr } = context.terminal;
      const json = args.has('json');
      const progress = args.has('quiet') ? NO_PROGRESS : progressOn(stderr, context.clock, 'events checked');
      const sum = { streams: 0, events: 0, plants: 0, problems: 0 };
      const report = async (problem: HistoryProblem) => {
        sum.problems++;
        await progress.end();
        const where = problem.stream === undefined ? '' : `${shown(problem.stream)}: `;
        await stdout.line(json ? JSON.stringify(problem) : `${where}${escapeForTerminal(problem.problem)}`);
      };

      const archives = await findArchives(args.texts('archive'), requested);
      const found = await findStreams(opened.catalogue, requested);
      for (const problem of found.foreign) await report({ problem });
      const stored = new Set(found.streams.map(({ stream }) => stream));
      const lost = [...archives.keys()].filter((stream) => !stored.has(stream));
      for (const stream of new Set([...found.missing, ...lost]))
        await report({ stream, problem: 'nothing is stored' });
      for (const catalogued of found.streams) {
        const { stream } = catalogued;
        const check: StreamCheck = new StreamCheck(opened, catalogued, archives.get(stream), () =>
          progress.advance(sum.events + check.events, found.events),
        );
        const problem = await check.run();
        if (problem !== undefined) await report({ stream, problem });
        sum.streams++;
        sum.events += check.events;
        sum.plants += check.plants;
      }
      await progress.end();
      if (json) await stdout.line(JSON.stringify(sum));
      else if (!args.has('quiet'))
        await stdout.line(
          `${pluralize(sum.streams, 'user')}, ${pluralize(sum.events, 'event')}, ${pluralize(sum.plants, 'plant')}: ` +
            (sum.problems === 0 ? 'no problems.' : `${pluralize(sum.problems, 'problem')}.`),
        );
      return sum.problems === 0 ? 'done' : 'refused';
    });
  },
};

/** Replays one history up to its first problem. */
class StreamCheck {
  #list = new PlantList();
  /** Number of events before the first one that was replayed. */
  #skipped = 0;

  constructor(
    private readonly opened: OpenStore,
    private readonly catalogued: CataloguedStream,
    private readonly archives: readonly string[] | undefined,
    private readonly onPage: () => Promise<void>,
  ) {}

  /** Number of events that were replayed. */
  get events(): number {
    return this.#list.version - this.#skipped;
  }

  /** Number of living plants. */
  get plants(): number {
    return this.#list.size;
  }

  /** Resolves with the first problem. Throws `StoreUnavailable`, and `Refused` if an archive cannot be read. */
  async run(): Promise<string | undefined> {
    const checks: SnapshotCheck[] = [];
    try {
      const start = await this.#start();
      this.#list = start.list;
      checks.push(...(await this.#snapshotChecks()));
      for (const check of checks) check.begin(this.#list, start.head);
      await this.#replay(start, checks);
    } catch (error) {
      if (error instanceof UnreadableHistory || error instanceof ImpossibleHistory) return error.message;
      if (error instanceof ArchivedHistory) return `${error.message}, and --archive does not have them`;
      if (error instanceof HistoryChanged) return `${error.message}; verify it again`;
      throw error;
    }
    return (await this.#lostEnd()) ?? checks.map((check) => check.end(this.#list.version)).find((one) => one);
  }

  /** Where the events in the store begin: after the archives, after the base, or at the beginning. */
  async #start(): Promise<ArchivedList> {
    const { stream } = this.catalogued;
    if (this.archives === undefined) {
      const start = await startOf(this.opened, stream);
      this.#skipped = start.head.version;
      return start;
    }
    const end = await endOf(readArchives(stream, this.archives));
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
    const { stream } = this.catalogued;
    const newest = await SnapshotCheck.ofNewest(snapshots, stream);
    return this.#skipped > 0 ? [newest] : [newest, await SnapshotCheck.ofBase(snapshots, stream)];
  }

  async #replay({ head }: ArchivedList, checks: readonly SnapshotCheck[]): Promise<void> {
    try {
      for await (const page of replay(this.opened.store, this.catalogued.stream, plantCodec, head)) {
        for (const { event, commit } of page) {
          this.#list.evolve(event);
          for (const check of checks) check.replayed(this.#list, commit);
        }
        await this.onPage();
      }
    } catch (error) {
      const another =
        error instanceof HistoryChanged && head.version > 0 && this.#list.version === head.version;
      throw another ? new UnreadableHistory(this.archives ? ANOTHER_ARCHIVE : ANOTHER_BASE) : error;
    }
  }

  async #lostEnd(): Promise<string | undefined> {
    const { stream, version } = this.catalogued;
    const { version: end } = this.#list;
    // A stream that was erased meanwhile has no problem.
    return end < version && (await this.opened.catalogue.find(stream)) !== undefined
      ? `ends at version ${end}, but its last version is ${version}: the last events were deleted`
      : undefined;
  }
}

const ANOTHER_ARCHIVE = 'its history in the store does not continue its archives';
