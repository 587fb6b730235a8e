import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { type Readable, addAbortSignal } from 'node:stream';
import type { AnyKind } from '../../event-sourcing';
import type { Arguments } from './arguments';
import {
  type CliCommand,
  JSON_OUTPUT,
  type CliStore,
  QUIET,
  type CliContext,
  unlessInterrupted,
  withStore,
} from './command';
import { readEventFile } from './event-file';
import { WrongUsage } from './exit';
import { type Imported, importEvents } from './importing';
import { type Progress, NO_PROGRESS, progressOn } from './progress';
import { shown } from './stream-text';
import { type Terminal, pluralize } from './terminal';

export const eventsImport: CliCommand = {
  name: 'events import',
  summary: 'import exported events into the store',
  positional: 'FILE',
  options: { ...QUIET, ...JSON_OUTPUT },
  details: [
    'Appends every event with its version and commit id, then reads each history back and compares it with the',
    'export. The import is idempotent: events that are already in the store are skipped, so an interrupted',
    'import can be repeated. On Ctrl-C it prints how many events are in the store.',
    'A stream with a different history in the store is refused and left unchanged; the import continues with the',
    'next one, and the exit code is 1. FILE is checked completely before the first write. Standard input',
    '(no FILE, or -) is checked while it is written: damage is reported, and the events before it stay recorded.',
    '',
    '  plant-store events import plants.ndjson',
    '  EVENT_STORE=redis REDIS_URL=redis://old plant-store events export |',
    '    EVENT_STORE=redis REDIS_URL=redis://new plant-store events import',
  ],
  run: async (args, context) => {
    const source = await sourceOf(args.positional, context);
    const progressFor = (what: string) =>
      args.has('quiet') ? NO_PROGRESS : progressOn(context.terminal.stderr, context.clock, what);
    return withStore(context, async (opened) => {
      const interrupted = context.untilInterrupted();
      if (source.rereadable) await check(source, context.kinds, progressFor('bytes checked'), interrupted);
      const imported = await record(
        opened,
        source,
        context.kinds,
        progressFor('bytes imported'),
        interrupted,
        context.terminal,
      );
      await report(imported, args, context.terminal);
      return imported.refused.length > 0 ? 'refused' : 'done';
    });
  },
};

interface Source {
  readonly open: () => Readable;
  /** In bytes; 0 if unknown. */
  readonly size: number;
  /** Whether `open` can be called twice. */
  readonly rereadable: boolean;
}

async function sourceOf(path: string | undefined, { terminal: { stdin } }: CliContext): Promise<Source> {
  if (path === undefined || path === '-') {
    if (stdin.isTTY) throw new WrongUsage('name a file, or pass the export on standard input');
    return { open: () => stdin, size: 0, rereadable: false };
  }
  const found = await stat(path);
  if (found.isDirectory()) throw new WrongUsage(`${path} is a directory`);
  // A path can also name a pipe, as in `import <(zcat plants.ndjson.gz)`.
  return { open: () => createReadStream(path), size: found.size, rereadable: found.isFile() };
}

/** The chunks of `source`. Aborting `interrupted` destroys the stream, so that an open pipe keeps no process alive. */
async function* readChunks(
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

/** Reads the whole file. Rejects with `DamagedFile`, or with `Interrupted`. */
async function check(
  source: Source,
  kinds: readonly AnyKind[],
  progress: Progress,
  interrupted: AbortSignal,
): Promise<void> {
  const readAll = async () => {
    const units = readEventFile(readChunks(source, progress, interrupted), kinds);
    while (!(await units.next()).done) continue;
  };
  await unlessInterrupted(interrupted, readAll(), 'interrupted; nothing was recorded').finally(() =>
    progress.end(),
  );
}

async function record(
  opened: CliStore,
  source: Source,
  kinds: readonly AnyKind[],
  progress: Progress,
  interrupted: AbortSignal,
  { stderr }: Terminal,
): Promise<Imported> {
  let recorded = 0;
  const onRecorded = (events: number) => void (recorded += events);
  const units = readEventFile(readChunks(source, progress, interrupted), kinds);
  try {
    return await unlessInterrupted(interrupted, importEvents(units, opened, onRecorded));
  } catch (error) {
    await progress.end();
    // Appends in flight may still be recorded.
    await stderr.line(
      `The store has at least ${pluralize(recorded, 'event')} of the export; the import can be repeated.`,
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
      `The store holds ${pluralize(events, 'event')} of ${pluralize(streams, 'stream')}, as they were exported.`,
    );
}
