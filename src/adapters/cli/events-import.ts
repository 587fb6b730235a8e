import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { type Readable, addAbortSignal } from 'node:stream';
import type { Arguments } from './arguments';
import {
  type Command,
  JSON_OUTPUT,
  type OpenStore,
  QUIET,
  type World,
  unlessInterrupted,
  withStore,
} from './command';
import { readEventFile } from './event-file';
import { WrongUsage } from './exit';
import { type Imported, importEvents } from './importing';
import { type Progress, SILENT, progressOn } from './progress';
import { type Terminal, counted, shown } from './terminal';

export const eventsImport: Command = {
  name: 'events import',
  summary: 'bring exported events into the store',
  positional: 'FILE',
  options: { ...QUIET, ...JSON_OUTPUT },
  details: [
    'Records every event at its version, under its commit, then reads each history back and compares it.',
    'What is there already is left as it is, so an import that was interrupted is simply run again; on Ctrl-C',
    'it says how far it came.',
    'A user who has another history in the store is refused, nothing of it is touched, and the import goes on',
    'with the next; the exit code is 1 then. FILE is checked as a whole before anything is recorded; standard',
    'input (no FILE, or -) is checked while it is recorded: damage is told of, and what came before it stays.',
    '',
    '  plant-store events import plants.ndjson',
    '  EVENT_STORE=redis REDIS_URL=redis://old plant-store events export |',
    '    EVENT_STORE=redis REDIS_URL=redis://new plant-store events import',
  ],
  run: async (args, world) => {
    const source = await sourceOf(args.positional, world);
    const observed = (what: string) =>
      args.has('quiet') ? SILENT : progressOn(world.terminal.stderr, world.clock, what);
    return withStore(world, async (opened) => {
      const interrupted = world.untilInterrupted();
      if (source.again) await check(source, observed('bytes checked'), interrupted);
      const imported = await record(opened, source, observed('bytes imported'), interrupted, world.terminal);
      await report(imported, args, world.terminal);
      return imported.refused.length > 0 ? 'refused' : 'done';
    });
  },
};

interface Source {
  readonly open: () => Readable;
  /** In bytes; 0 where nobody knows. */
  readonly size: number;
  /** Whether it can be read again. */
  readonly again: boolean;
}

async function sourceOf(path: string | undefined, { terminal: { stdin } }: World): Promise<Source> {
  if (path === undefined || path === '-') {
    if (stdin.isTTY) throw new WrongUsage('say which file, or hand it in on standard input');
    return { open: () => stdin, size: 0, again: false };
  }
  const found = await stat(path);
  if (found.isDirectory()) throw new WrongUsage(`${path} is a directory`);
  // A pipe has a name, too, as in `import <(zcat plants.ndjson.gz)`.
  return { open: () => createReadStream(path), size: found.size, again: found.isFile() };
}

/** Ends with the stream itself where `interrupted` is aborted: a pipe that was left open keeps no process alive. */
async function* watched(
  { open, size }: Source,
  progress: Progress,
  interrupted: AbortSignal,
): AsyncGenerator<Uint8Array> {
  let done = 0;
  for await (const chunk of addAbortSignal(interrupted, open()) as AsyncIterable<Uint8Array>) {
    yield chunk;
    done += chunk.length;
    await progress.advance(done, size);
  }
}

/** Rejects where the file is damaged. */
async function check(source: Source, progress: Progress, interrupted: AbortSignal): Promise<void> {
  const readAll = async () => {
    const units = readEventFile(watched(source, progress, interrupted));
    while (!(await units.next()).done) continue;
  };
  await unlessInterrupted(interrupted, readAll(), 'interrupted; nothing was recorded').finally(() =>
    progress.end(),
  );
}

async function record(
  opened: OpenStore,
  source: Source,
  progress: Progress,
  interrupted: AbortSignal,
  { stderr }: Terminal,
): Promise<Imported> {
  let recorded = 0;
  const observer = { recorded: (events: number) => void (recorded += events) };
  const units = readEventFile(watched(source, progress, interrupted));
  try {
    return await unlessInterrupted(interrupted, importEvents(units, opened, observer));
  } catch (error) {
    await progress.end();
    // Appends under way may still be recorded.
    await stderr.line(
      `By now the store has at least ${counted(recorded, 'event')} of the export; the import can be run again.`,
    );
    throw error;
  } finally {
    await progress.end();
  }
}

async function report({ streams, events, refused }: Imported, args: Arguments, { stdout, stderr }: Terminal) {
  for (const { stream, why } of refused) await stderr.line(`refused: ${shown(stream)} ${why}`);
  if (args.has('json')) await stdout.line(JSON.stringify({ streams, events, refused }));
  else if (!args.has('quiet'))
    await stdout.line(
      `The store holds ${counted(events, 'event')} of ${counted(streams, 'user')}, as they were exported.`,
    );
}
