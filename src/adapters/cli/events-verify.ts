import { type CataloguedStream, HistoryChanged, UnreadableHistory, replay } from '../../application';
import { ImpossibleHistory, PlantList } from '../../domain';
import { type Command, JSON_OUTPUT, type OpenStore, QUIET, SOME_USERS, withStore } from './command';
import { findStreams } from './found-streams';
import { SILENT, progressOn } from './progress';
import { counted, shown } from './terminal';

/** What is wrong with one stream, or with what stands where streams do. */
interface Problem {
  readonly stream?: string;
  readonly problem: string;
}

export const eventsVerify: Command = {
  name: 'events verify',
  summary: 'replay and check every history',
  options: { ...SOME_USERS, ...QUIET, ...JSON_OUTPUT },
  details: [
    'Reads every event as the service does and replays it: no gap, no unknown type, no rule broken, no end',
    'missing, and no key among ours that is not ours. A bad history does not keep the others from being',
    'checked. A problem a line on standard output, then the sum; exit code 1 where there is any. It reads',
    'only, so it can be run beside services.',
    '',
    '  plant-store events verify',
    '  plant-store events verify --user alice --json',
  ],
  run: (args, world) => {
    const users = args.users();
    return withStore(world, async (opened) => {
      const { stdout, stderr } = world.terminal;
      const json = args.has('json');
      const progress = args.has('quiet') ? SILENT : progressOn(stderr, world.clock, 'events checked');
      const sum = { streams: 0, events: 0, plants: 0, problems: 0 };
      const tell = async (problem: Problem) => {
        sum.problems++;
        await progress.end();
        const where = problem.stream === undefined ? '' : `${shown(problem.stream)}: `;
        await stdout.line(json ? JSON.stringify(problem) : `${where}${shown(problem.problem)}`);
      };

      const found = await findStreams(opened.catalogue, users);
      for (const problem of found.foreign) await tell({ problem });
      for (const stream of found.missing) await tell({ stream, problem: 'nothing is stored' });
      for (const catalogued of found.streams) {
        const list = new PlantList();
        const problem = await checkStream(opened, catalogued, list, () =>
          progress.advance(sum.events + list.version, found.events),
        );
        if (problem !== undefined) await tell({ stream: catalogued.stream, problem });
        sum.streams++;
        sum.events += list.version;
        sum.plants += list.size;
      }
      await progress.end();
      if (json) await stdout.line(JSON.stringify(sum));
      else if (!args.has('quiet'))
        await stdout.line(
          `${counted(sum.streams, 'user')}, ${counted(sum.events, 'event')}, ${counted(sum.plants, 'plant')}: ` +
            (sum.problems === 0 ? 'all is well.' : `${counted(sum.problems, 'problem')}.`),
        );
      return sum.problems === 0 ? 'done' : 'refused';
    });
  },
};

/** Takes the history into `list`, as far as it is sound; what is wrong with it. Throws where the store is away. */
async function checkStream(
  { store, catalogue }: OpenStore,
  { stream, version }: CataloguedStream,
  list: PlantList,
  advanced: () => Promise<void>,
): Promise<string | undefined> {
  try {
    for await (const page of replay(store, stream)) {
      for (const { event } of page) list.evolve(event);
      await advanced();
    }
  } catch (error) {
    if (error instanceof UnreadableHistory || error instanceof ImpossibleHistory) return error.message;
    if (error instanceof HistoryChanged) return `${error.message}; verify it again`;
    throw error;
  }
  // Erased since it was found, it is as it should be.
  return list.version < version && (await catalogue.find(stream)) !== undefined
    ? `ends at version ${list.version}, but version ${version} was given: its end was deleted`
    : undefined;
}
