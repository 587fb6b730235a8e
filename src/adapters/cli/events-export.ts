import { open, realpath, rename, stat, unlink } from 'node:fs/promises';
import { finished } from 'node:stream/promises';
import { UnreadableHistory, replay } from '../../event-sourcing';
import {
  type Command,
  type OpenStore,
  QUIET,
  SOME_USERS,
  type CliContext,
  unlessInterrupted,
  withStore,
} from './command';
import { HEADER, eventLine, sealOf, trailerLine } from './event-lines';
import { Refused } from './exit';
import { type FoundStreams, findStreams } from './found-streams';
import { type Progress, NO_PROGRESS, progressOn } from './progress';
import { Output, pluralize, escapeForTerminal } from './terminal';

export const eventsExport: Command = {
  name: 'events export',
  summary: 'export events as NDJSON, one per line',
  options: {
    ...SOME_USERS,
    output: { short: 'o', value: 'FILE', description: 'the file to write; standard output by default' },
    ...QUIET,
  },
  details: [
    'The export is exact, sorted by user, and has all complete commits of each history at the moment it was',
    'read. Services may write meanwhile. The last line has the number of events and a seal, so that truncation',
    'and changes are detected. FILE is created or replaced only when the export is complete: on Ctrl-C it is',
    'unchanged.',
    '',
    '  plant-store events export --output plants.ndjson',
    '  plant-store events export --user alice | gzip > alice.ndjson.gz',
  ],
  run: (args, context) => {
    const users = args.users();
    const file = args.text('output');
    return withStore(context, async (opened) => {
      const { stdout, stderr } = context.terminal;
      const found = await findStreams(opened.catalogue, users);
      if (found.missing.length > 0)
        throw new Refused(`nothing is stored for ${found.missing.map(escapeForTerminal).join(', ')}`);
      for (const foreign of found.foreign) await stderr.line(`skipped: ${escapeForTerminal(foreign)}`);

      const quiet = args.has('quiet') || (file === undefined && stdout.isTerminal);
      const progress = quiet ? NO_PROGRESS : progressOn(stderr, context.clock, 'events exported');
      const write = (output: Output) => writeEvents(opened, found, output, progress);
      const events = await (file === undefined ? write(stdout) : replaceFile(file, write, context)).finally(
        () => progress.end(),
      );
      if (!quiet)
        await stderr.line(
          `Exported ${pluralize(events, 'event')} of ${pluralize(found.streams.length, 'user')}.`,
        );
      return 'done';
    });
  },
};

async function writeEvents(
  { store }: OpenStore,
  found: FoundStreams,
  output: Output,
  progress: Progress,
): Promise<number> {
  const seal = sealOf(HEADER)!;
  const writeSealed = (text: string) => {
    seal.update(text);
    return output.write(text);
  };
  let streams = 0;
  let events = 0;
  await writeSealed(HEADER);
  for (const { stream } of found.streams) {
    const before = events;
    try {
      for await (const page of replay(store, stream)) {
        events += page.length;
        await writeSealed(page.map((event) => eventLine(stream, event)).join(''));
        await progress.advance(events, found.events);
      }
    } catch (error) {
      if (!(error instanceof UnreadableHistory)) throw error;
      throw new Refused(
        `the events of ${escapeForTerminal(stream)} cannot be read: ${error.message}. ` +
          'The export is incomplete. `events verify` lists all unreadable histories; --user exports single users.',
      );
    }
    if (events > before) streams++;
  }
  await output.write(trailerLine({ streams, events, seal: seal.digest('hex') }));
  return events;
}

/**
 * Replaces the file at `path` atomically. On failure, Ctrl-C or SIGTERM it is unchanged.
 * Of a symbolic link, the target is replaced. A device or a pipe is written to directly.
 */
async function replaceFile<T>(
  path: string,
  write: (output: Output) => Promise<T>,
  context: CliContext,
): Promise<T> {
  const target = await realpath(path).catch(() => path);
  const existing = await stat(target).catch(() => undefined);
  if (existing !== undefined && !existing.isFile()) return writeFile(target, write);
  const draft = `${target}.part`;
  // Before the draft exists, so that an interruption always removes it.
  const interrupted = context.untilInterrupted();
  try {
    const result = await writeFile(draft, (output) =>
      unlessInterrupted(interrupted, write(output), `interrupted; ${escapeForTerminal(path)} is unchanged`),
    );
    await rename(draft, target);
    return result;
  } catch (error) {
    await unlink(draft).catch(() => {});
    throw error;
  }
}

async function writeFile<T>(path: string, write: (output: Output) => Promise<T>): Promise<T> {
  const file = await open(path, 'w', 0o600);
  const isFile = (await file.stat()).isFile();
  const stream = file.createWriteStream({ flush: isFile });
  try {
    const result = await write(new Output(stream));
    stream.end();
    await finished(stream);
    return result;
  } catch (error) {
    stream.destroy();
    await finished(stream).catch(() => {});
    throw error;
  }
}
