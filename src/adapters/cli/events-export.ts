import {
  ArchivedHistory,
  HistoryChanged,
  type StoredEvent,
  UnreadableHistory,
  partsOf,
  replay,
} from '../../event-sourcing';
import { type Archives, findArchives, readArchives } from './archives';
import type { Arguments } from './arguments';
import { ARCHIVES, type CliCommand, type CliStore, QUIET, SOME_USERS, withStore } from './command';
import { HEADER, HEADER_2, SealedLines, eventLine, formatOf } from './event-lines';
import { recordedOf } from './event-file';
import { Refused, WrongUsage } from './exit';
import { type StreamOfKind, findStreams } from './found-streams';
import { replaceFile, reportDrafts } from './output-file';
import { type Progress, NO_PROGRESS, progressOn } from './progress';
import { OF_NO_KIND, shown } from './stream-text';
import { type Output, pluralize, escapeForTerminal } from './terminal';

export const eventsExport: CliCommand = {
  name: 'events export',
  summary: 'export events as NDJSON, one per line',
  options: {
    ...SOME_USERS,
    ...ARCHIVES,
    output: { short: 'o', value: 'FILE', description: 'the file to write; standard output by default' },
    format: {
      value: 'VERSION',
      description: 'version of the format: 3 (default), or 2, which earlier versions of plant-store read',
    },
    ...QUIET,
  },
  details: [
    'The export is exact, sorted by stream, and has all complete commits of each history at the moment it was',
    'read. Services may write meanwhile. The last line has the number of events and a seal, so that truncation',
    'and changes are detected. FILE is created or replaced only when the export is complete: on Ctrl-C it is',
    'unchanged.',
    'A stream whose first events were archived needs --archive for each of the archives. The export then has the whole',
    'history. With --user, archives are exported even if the store has nothing of that user. Without it, a store with',
    'a stream of an unknown category is refused.',
    '',
    '  plant-store events export --output plants.ndjson',
    '  plant-store events export --user alice | gzip > alice.ndjson.gz',
    '  plant-store events export --user alice --archive 1.ndjson --archive 2.ndjson',
  ],
  run: (args, context) => {
    const users = args.users();
    const { kinds } = context;
    const file = args.text('output');
    const header = headerOf(args);
    return withStore(context, async (opened) => {
      const { stdout, stderr } = context.terminal;
      if (file !== undefined) await reportDrafts(file, stderr);
      const archives = await findArchives(args.texts('archive'), kinds, users);
      const found = await findStreams(opened.catalogue, kinds, users);
      const stored = new Set(found.streams.map(({ stream }) => stream));
      const absent = [...archives.values()].filter(({ stream }) => !stored.has(stream));
      const archivedOnly = users.length > 0 ? absent : [];
      const archivedUsers = archivedOnly.map(({ stream }) => partsOf(stream).id);
      const lacking =
        users.length > 0
          ? found.missing.filter((user) => !archivedUsers.includes(user)).map(escapeForTerminal)
          : absent.map(({ stream }) => shown(stream));
      if (lacking.length > 0) throw new Refused(`nothing is stored for ${lacking.join(', ')}`);
      if (found.unknown.length > 0)
        throw new Refused(
          `the store has ${found.unknown.map(shown).join(', ')}, ${OF_NO_KIND}; --user exports single users`,
        );
      for (const foreign of found.foreign) await stderr.line(`skipped: ${escapeForTerminal(foreign)}`);

      const quiet = args.has('quiet') || (file === undefined && stdout.isTerminal);
      const progress = quiet ? NO_PROGRESS : progressOn(stderr, context.clock, 'events exported');
      const exported = {
        streams: [...found.streams, ...archivedOnly].sort((a, b) => (a.stream < b.stream ? -1 : 1)),
        archives,
        archivedOnly,
        events: found.events,
        header,
      };
      const write = (output: Output) => writeEvents(opened, exported, output, progress);
      const writing =
        file === undefined ? write(stdout) : replaceFile(file, write, context.untilInterrupted());
      const events = await writing.finally(() => progress.end());
      if (!quiet)
        await stderr.line(
          `Exported ${pluralize(events, 'event')} of ${pluralize(exported.streams.length, 'stream')}.`,
        );
      return 'done';
    });
  },
};

interface Exported {
  /** Sorted. */
  readonly streams: readonly StreamOfKind[];
  readonly archives: Archives;
  /** Those that are exported from their archives alone. */
  readonly archivedOnly: readonly StreamOfKind[];
  /** Number of events, as far as known. */
  readonly events: number;
  readonly header: string;
}

/** The header of the version that `--format` names. */
function headerOf(args: Arguments): string {
  const header = { '2': HEADER_2, '3': HEADER }[args.text('format') ?? '3'];
  if (header === undefined) throw new WrongUsage('--format must be 2 or 3');
  return header;
}

async function writeEvents(
  opened: CliStore,
  exported: Exported,
  output: Output,
  progress: Progress,
): Promise<number> {
  const sealed = new SealedLines(output, exported.header);
  let streams = 0;
  let events = 0;
  await sealed.write(exported.header);
  for (const stream of exported.streams) {
    const before = events;
    try {
      for await (const [count, lines] of historyLines(opened, stream, exported)) {
        events += count;
        await sealed.write(lines);
        await progress.advance(events, exported.events);
      }
    } catch (error) {
      throw refusalOf(error, stream);
    }
    if (events > before) streams++;
  }
  await sealed.end(streams, events);
  return events;
}

/** The lines of a stream, with their number: those of its archives, then those in the store. */
async function* historyLines(
  { store }: CliStore,
  of: StreamOfKind,
  { archives, archivedOnly, header }: Exported,
): AsyncGenerator<[count: number, lines: string]> {
  const { stream, kind } = of;
  const name = formatOf(header)!.nameOf(stream);
  if (name === undefined) throw new Refused(`${shown(stream)} has no name in --format 2`);
  const linesOf = (events: readonly StoredEvent[]): [number, string] => [
    events.length,
    events.map((event) => eventLine(kind, name, event)).join(''),
  ];
  const commits = readArchives(of, archives.get(stream) ?? { paths: [] });
  let commit = await commits.next();
  for (; !commit.done; commit = await commits.next()) yield linesOf(recordedOf(commit.value));
  if (archivedOnly.some((archived) => archived.stream === stream)) return;
  const { head } = commit.value;
  try {
    for await (const page of replay(store, stream, kind.codec, head)) yield linesOf(page);
  } catch (error) {
    if (!(error instanceof HistoryChanged) || head.version === 0) throw error;
    throw new Refused(
      `the history of ${shown(stream)} in the store does not continue its archives, which end at version ${head.version}`,
    );
  }
}

function refusalOf(error: unknown, { stream }: StreamOfKind): unknown {
  if (error instanceof ArchivedHistory)
    return new Refused(
      `${error.message}: export ${shown(stream)} with --archive and the file of each archive. \`--user\` exports other users.`,
    );
  if (!(error instanceof UnreadableHistory)) return error;
  return new Refused(
    `the events of ${shown(stream)} cannot be read: ${error.message}. ` +
      'The export is incomplete. `events verify` lists all unreadable histories; --user exports single users.',
  );
}
