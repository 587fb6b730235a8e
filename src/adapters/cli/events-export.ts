import { open, realpath, rename, stat, unlink } from 'node:fs/promises';
import { finished } from 'node:stream/promises';
import { UnreadableHistory, replay } from '../../application';
import {
  type Command,
  type OpenStore,
  QUIET,
  SOME_USERS,
  type World,
  unlessInterrupted,
  withStore,
} from './command';
import { HEADER, eventLine, sealOf, trailerLine } from './event-lines';
import { Refused } from './exit';
import { type FoundStreams, findStreams } from './found-streams';
import { type Progress, SILENT, progressOn } from './progress';
import { Output, counted, shown } from './terminal';

export const eventsExport: Command = {
  name: 'events export',
  summary: 'write events down, a line of JSON each',
  options: {
    ...SOME_USERS,
    output: { short: 'o', value: 'FILE', meaning: 'where to; by default standard output' },
    ...QUIET,
  },
  details: [
    'Exact to the last digit, in the order of users’ names, each history a prefix of whole commits up to',
    'the moment it was read. A service may go on writing meanwhile. The last line counts and seals',
    'the events, so what is cut short or changed is noticed. FILE is there only when it is complete: Ctrl-C',
    'leaves nothing of it.',
    '',
    '  plant-store events export --output plants.ndjson',
    '  plant-store events export --user alice | gzip > alice.ndjson.gz',
  ],
  run: (args, world) => {
    const users = args.users();
    const file = args.text('output');
    return withStore(world, async (opened) => {
      const { stdout, stderr } = world.terminal;
      const found = await findStreams(opened.catalogue, users);
      if (found.missing.length > 0)
        throw new Refused(`nothing is stored for ${found.missing.map(shown).join(', ')}`);
      for (const foreign of found.foreign) await stderr.line(`left out: ${shown(foreign)}`);

      const quiet = args.has('quiet') || (file === undefined && stdout.isTerminal);
      const progress = quiet ? SILENT : progressOn(stderr, world.clock, 'events exported');
      const write = (output: Output) => writeEvents(opened, found, output, progress);
      const events = await (file === undefined ? write(stdout) : toFile(file, write, world)).finally(() =>
        progress.end(),
      );
      if (!quiet)
        await stderr.line(
          `Exported ${counted(events, 'event')} of ${counted(found.streams.length, 'user')}.`,
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
  const put = (text: string) => {
    seal.update(text);
    return output.write(text);
  };
  let streams = 0;
  let events = 0;
  await put(HEADER);
  for (const { stream } of found.streams) {
    const before = events;
    try {
      for await (const page of replay(store, stream)) {
        events += page.length;
        await put(page.map((event) => eventLine(stream, event)).join(''));
        await progress.advance(events, found.events);
      }
    } catch (error) {
      if (!(error instanceof UnreadableHistory)) throw error;
      throw new Refused(
        `the events of ${shown(stream)} cannot be read: ${error.message}. ` +
          'The export is not complete. `events verify` tells of all there are of this kind; --user exports others.',
      );
    }
    if (events > before) streams++;
  }
  await output.write(trailerLine({ streams, events, seal: seal.digest('hex') }));
  return events;
}

/**
 * On every failure, and on Ctrl-C or SIGTERM, `path` stays as it was. A symbolic link stays one: what it points to is
 * replaced. A device or a pipe is written to.
 */
async function toFile<T>(path: string, write: (output: Output) => Promise<T>, world: World): Promise<T> {
  const target = await realpath(path).catch(() => path);
  const there = await stat(target).catch(() => undefined);
  if (there !== undefined && !there.isFile()) return intoFile(target, write);
  const draft = `${target}.part`;
  // Before the draft is made, so that none stays.
  const interrupted = world.untilInterrupted();
  try {
    const result = await intoFile(draft, (output) =>
      unlessInterrupted(interrupted, write(output), `interrupted; ${shown(path)} is as it was`),
    );
    await rename(draft, target);
    return result;
  } catch (error) {
    await unlink(draft).catch(() => {});
    throw error;
  }
}

async function intoFile<T>(path: string, write: (output: Output) => Promise<T>): Promise<T> {
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
