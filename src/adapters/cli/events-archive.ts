import { stat } from 'node:fs/promises';
import { ArchivedHistory, HistoryChanged, type StreamName } from '../../event-sourcing';
import { beginningOf, verifiedSeal } from './archives';
import { type Archivable, checkArchive, findArchivable, saveBase, trim, writeArchive } from './archiving';
import type { Arguments } from './arguments';
import { ANOTHER_BASE, readBase } from './base';
import {
  type CliContext,
  type CliCommand,
  JSON_OUTPUT,
  type CliStore,
  QUIET,
  USER,
  withStore,
} from './command';
import type { ArchivedState } from './event-file';
import { Interrupted, Refused, WrongUsage } from './exit';
import { type FoundStream, findStreams } from './found-streams';
import { createFile, flushDirectoryOf, reportDrafts } from './output-file';
import { shown } from './stream-text';
import { escapeForTerminal, pluralize } from './terminal';

export const eventsArchive: CliCommand = {
  name: 'events archive',
  summary: 'move the first events of a user from the store to a file',
  options: {
    ...USER,
    category: {
      value: 'NAME',
      description: 'the first part of the name of the stream; required if the user has several',
    },
    until: {
      value: 'VERSION',
      description: 'the last event to archive; a commit that has later events stays as a whole',
      required: true,
    },
    output: { short: 'o', value: 'FILE', description: 'the file to create', required: true },
    'dry-run': { description: 'change nothing, and say what would be archived' },
    ...QUIET,
    ...JSON_OUTPUT,
  },
  details: [
    'For a user with many events and a small state, such as few living plants. Writes the events to FILE in the format of `events export`,',
    'reads FILE back and compares it with the store, saves the state at that version as a base snapshot, reads that',
    'back, and only then removes the events from the store. The event at the last archived version stays there, too.',
    'Services may run meanwhile; all must be of a version that knows archives.',
    '',
    'FILE is now the only copy of its events: keep it with your backups. An existing file is never replaced. A later',
    'archive of the same stream continues this one, with a file of its own. `events export --archive` joins all of them',
    'and the store to the whole history.',
    'If the command is interrupted or killed, repeat it with the same options: it continues.',
    '',
    '  plant-store events archive --user ann --until 9000 --output a.ndjson --dry-run',
  ],
  run: (args, context) => withStore(context, (opened) => archiveEvents(args, context, opened)),
};

async function archiveEvents(args: Arguments, context: CliContext, opened: CliStore) {
  const path = args.text('output')!;
  await reportDrafts(path, context.terminal.stderr);
  const found = await findStream(opened, args, context);
  const { stream } = found;
  const archivable = await readArchivable(opened, found, args.number('until', 1)!);
  const before = await opened.archive?.bytes(stream);
  if (args.has('dry-run')) {
    await reportDryRun(await estimate(opened, archivable, before), args, context);
    return 'done';
  }
  const interrupted = context.untilInterrupted();
  const step = async (text: string) => {
    if (!args.has('quiet')) await context.terminal.stderr.line(text);
    if (interrupted.aborted)
      throw new Interrupted('interrupted; nothing is lost, and the command can be repeated');
  };
  const end =
    archivable.events > 0
      ? await archive(opened, archivable, path, step, interrupted)
      : await findArchive(archivable, path);
  const removed = await trim(opened, end, interrupted);
  await step(`Removed ${pluralize(removed, 'event')} from the store.`);
  const after = await opened.archive?.bytes(stream);
  const freed = before === undefined || after === undefined ? undefined : Math.max(0, before - after);
  await report({ stream, until: end.head.version, removed, freed }, args, context);
  return 'done' as const;
}

/** The stream that the arguments name. Throws {@link Refused} or {@link WrongUsage}. */
async function findStream(
  { catalogue }: CliStore,
  args: Arguments,
  { kinds }: CliContext,
): Promise<FoundStream> {
  const user = args.user();
  const category = args.text('category');
  const selected = kinds.filter((kind) => category === undefined || kind.category === category);
  if (selected.length === 0)
    throw new WrongUsage(`--category must be one of ${kinds.map((kind) => kind.category).join(', ')}`);
  const { streams } = await findStreams(catalogue, selected, [user]);
  if (streams.length === 0) throw new Refused(`nothing is stored for ${escapeForTerminal(user)}`);
  if (streams.length > 1)
    throw new WrongUsage(
      `--category is required: there is ${streams.map((each) => shown(each.stream)).join(', ')}`,
    );
  return streams[0]!;
}

/** The events to archive. Throws {@link Refused}. */
async function readArchivable(opened: CliStore, found: FoundStream, until: number): Promise<Archivable> {
  const { stream, version } = found;
  if (until > version)
    throw new Refused(`--until must be at most ${version}, the last version of ${shown(stream)}`);
  if (opened.archive === undefined) throw new Refused('this event store cannot archive events');
  const start = (await readBase(opened, found)) ?? beginningOf(found);
  try {
    return await findArchivable(opened.store, start, until);
  } catch (error) {
    const another = error instanceof ArchivedHistory || error instanceof HistoryChanged;
    if (!another || start.head.version === 0) throw error;
    throw new Refused(`${shown(stream)}: ${ANOTHER_BASE}`);
  }
}

/** Writes the archive unless `path` has it, checks it, and saves the base. Resolves with its end. */
async function archive(
  opened: CliStore,
  archivable: Archivable,
  path: string,
  step: (text: string) => Promise<void>,
  interrupted: AbortSignal,
): Promise<ArchivedState> {
  const file = escapeForTerminal(path);
  const existing = await stat(path).catch(() => undefined);
  if (existing === undefined) {
    await createFile(path, (output) => writeArchive(opened.store, archivable, output), interrupted);
    await step(`Wrote ${pluralize(archivable.events, 'event')} to ${file}.`);
  } else if (!existing.isFile()) throw new Refused(`${file} is not a file`);
  const end = await checkArchive(path, archivable);
  await flushDirectoryOf(path);
  await step(`Read ${file} back: it has the events of the store.`);
  await saveBase(opened, end, archivable.start);
  const { kind, items } = end.state;
  await step(`Saved the base snapshot: ${pluralize(items, kind.item)} at version ${end.head.version}.`);
  return end;
}

/** Where the newest archive ends, if `path` is that archive. Throws {@link Refused} if it is another file. */
async function findArchive({ start, head }: Archivable, path: string): Promise<ArchivedState> {
  const existing = await stat(path).catch(() => undefined);
  if (start.head.version > 0 && existing?.isFile() && (await verifiedSeal(path)) === start.archive)
    return start;
  throw new Refused(
    start.head.version > 0
      ? `the events of ${shown(start.stream)} up to version ${head.version} are archived already, in another file: its seal is ${start.archive}`
      : 'the first commit has later events, too: no event was archived',
  );
}

interface Estimate {
  readonly stream: StreamName;
  readonly until: number;
  readonly events: number;
  /** Number of events that would stay. */
  readonly stays: number;
  readonly bytes: number | undefined;
}

/** What archiving would free. */
async function estimate(
  { catalogue }: CliStore,
  { start, head, events }: Archivable,
  bytes: number | undefined,
): Promise<Estimate> {
  const version = (await catalogue.find(start.stream))?.version ?? head.version;
  const stored = version - Math.max(start.head.version - 1, 0);
  const share = (stored - (version - head.version + 1)) / stored;
  return {
    stream: start.stream,
    until: head.version,
    events,
    stays: version - head.version,
    bytes: bytes === undefined ? undefined : Math.round(bytes * Math.max(0, share)),
  };
}

async function reportDryRun(found: Estimate, args: Arguments, { terminal: { stdout } }: CliContext) {
  const { stream, until, events, stays, bytes } = found;
  if (args.has('json')) return stdout.line(JSON.stringify({ stream, until, events, stays, bytes }));
  return stdout.line(
    `Would archive ${pluralize(events, 'event')} of ${shown(stream)}, up to version ${until}` +
      `${freedText(' and free about ', bytes)}. ${pluralize(stays, 'later event')} would stay.`,
  );
}

interface Archived {
  readonly stream: StreamName;
  readonly until: number;
  readonly removed: number;
  readonly freed: number | undefined;
}

async function report({ stream, until, removed, freed }: Archived, args: Arguments, context: CliContext) {
  const { stdout } = context.terminal;
  if (args.has('json')) return stdout.line(JSON.stringify({ stream, until, removed, bytes: freed }));
  if (!args.has('quiet'))
    await stdout.line(
      `The events of ${shown(stream)} up to version ${until} are in ${escapeForTerminal(args.text('output')!)}` +
        `${freedText(', which freed about ', freed)}.`,
    );
}

function freedText(text: string, bytes: number | undefined): string {
  if (bytes === undefined) return '';
  return bytes < 1e6
    ? `${text}${Math.round(bytes / 1e3)} kB of the store`
    : `${text}${(bytes / 1e6).toFixed(1)} MB of the store`;
}
