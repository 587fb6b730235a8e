import { type CataloguedStream, HistoryChanged, UnreadableHistory, replay } from '../../event-sourcing';
import { ImpossibleHistory, PlantList } from '../../domain';
import { type Command, JSON_OUTPUT, type OpenStore, QUIET, SOME_USERS, withStore } from './command';
import { findStreams } from './found-streams';
import { NO_PROGRESS, progressOn } from './progress';
import { SnapshotCheck } from './snapshot-check';
import { pluralize, escapeForTerminal } from './terminal';

/** A problem of a stream, or of a key that is not a stream. */
interface HistoryProblem {
  readonly stream?: string;
  readonly problem: string;
}

export const eventsVerify: Command = {
  name: 'events verify',
  summary: 'replay and check all histories',
  options: { ...SOME_USERS, ...QUIET, ...JSON_OUTPUT },
  details: [
    'Reads and replays every event as the service does. Reports gaps, unknown event types, violated rules,',
    'histories without their last events, snapshots that differ from the replay, and foreign keys under the key',
    'prefix. Prints one problem per line, then the totals; the exit code is 1 if there is a problem. All',
    'histories are checked in any case. The command only reads, so it can run while services do.',
    '',
    '  plant-store events verify',
    '  plant-store events verify --user alice --json',
  ],
  run: (args, context) => {
    const users = args.users();
    return withStore(context, async (opened) => {
      const { stdout, stderr } = context.terminal;
      const json = args.has('json');
      const progress = args.has('quiet') ? NO_PROGRESS : progressOn(stderr, context.clock, 'events checked');
      const sum = { streams: 0, events: 0, plants: 0, problems: 0 };
      const report = async (problem: HistoryProblem) => {
        sum.problems++;
        await progress.end();
        const where = problem.stream === undefined ? '' : `${escapeForTerminal(problem.stream)}: `;
        await stdout.line(json ? JSON.stringify(problem) : `${where}${escapeForTerminal(problem.problem)}`);
      };

      const found = await findStreams(opened.catalogue, users);
      for (const problem of found.foreign) await report({ problem });
      for (const stream of found.missing) await report({ stream, problem: 'nothing is stored' });
      for (const catalogued of found.streams) {
        const list = new PlantList();
        const snapshot = await SnapshotCheck.begin(opened.snapshots, catalogued.stream);
        const problem =
          (await checkStream(opened, catalogued, list, snapshot, () =>
            progress.advance(sum.events + list.version, found.events),
          )) ?? snapshot.end(list.version);
        if (problem !== undefined) await report({ stream: catalogued.stream, problem });
        sum.streams++;
        sum.events += list.version;
        sum.plants += list.size;
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

/** Replays the history into `list` up to its first problem, and returns that. Throws `StoreUnavailable`. */
async function checkStream(
  { store, catalogue }: OpenStore,
  { stream, version }: CataloguedStream,
  list: PlantList,
  snapshot: SnapshotCheck,
  onPage: () => Promise<void>,
): Promise<string | undefined> {
  try {
    for await (const page of replay(store, stream)) {
      for (const { event, commit } of page) {
        list.evolve(event);
        snapshot.replayed(list, commit);
      }
      await onPage();
    }
  } catch (error) {
    if (error instanceof UnreadableHistory || error instanceof ImpossibleHistory) return error.message;
    if (error instanceof HistoryChanged) return `${error.message}; verify it again`;
    throw error;
  }
  // A stream that was erased meanwhile has no problem.
  return list.version < version && (await catalogue.find(stream)) !== undefined
    ? `ends at version ${list.version}, but its last version is ${version}: the last events were deleted`
    : undefined;
}
