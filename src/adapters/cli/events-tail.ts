import {
  ArchivedHistory,
  BEGINNING,
  type Head,
  HistoryChanged,
  type StoredEvent,
  type StoreUnavailable,
  UnreadableHistory,
  headOf,
  isSameHead,
  isTransient,
  replay,
  subscribe,
} from '../../event-sourcing';
import type { Arguments } from './arguments';
import { ANOTHER_BASE, startHeadOf } from './base';
import { type CliCommand, JSON_OUTPUT, type CliStore, type CliContext, withStore } from './command';
import { eventLine } from './event-lines';
import { WrongUsage } from './exit';
import { type StreamOfKind, streamsOf } from './found-streams';
import { followAll } from './events-tail-all';
import { plainLine, shown } from './stream-text';

/** Pause between attempts to read where archived events end, in ms. */
const RETRY_MS = 200;

export const eventsTail: CliCommand = {
  name: 'events tail',
  summary: 'print events as they are recorded',
  options: {
    user: { value: 'NAME', description: 'only the events of this user; by default those of all' },
    from: { value: 'VERSION', description: 'first event to show: a version, `start`, or `now` (default)' },
    ...JSON_OUTPUT,
  },
  details: [
    'Prints one event per line: version, commit, type and its members, separated by tabs; with --json, in the format',
    'of `events export`. Follows the streams of all kinds of aggregates. Runs until Ctrl-C (exit code 0), and keeps retrying while the store is',
    'unavailable. If the history was erased, or lost in a failover, it says so, with --json by the line',
    '{"stream":…,"reset":true}, and continues with the current history. Archived events are not shown.',
    'Without --user it prints the events of all users, each after the name of its stream, from now on.',
    '',
    '  plant-store events tail --user alice --from start',
  ],
  run: (args, context) => {
    const [user] = args.users();
    const first = firstVersion(args);
    if (user === undefined && first !== undefined) throw new WrongUsage('--from needs --user');
    return withStore(context, async (opened) => {
      const unread = context.untilUnread();
      const failed = new AbortController();
      const signal = AbortSignal.any([context.untilInterrupted(), unread, failed.signal]);
      const json = args.has('json');
      const following =
        user === undefined
          ? [followAll(opened, json, context, signal)]
          : streamsOf(context.kinds, user).map((stream) =>
              follow(opened, stream, first, json, context, signal),
            );
      await Promise.all(following).finally(() => failed.abort());
      return unread.aborted ? 'brokenPipe' : 'done';
    });
  },
};

/** The value of `--from`; `undefined` for `now`. */
function firstVersion(args: Arguments): number | undefined {
  const from = args.text('from') ?? 'now';
  if (from === 'now') return undefined;
  if (from === 'start') return 1;
  if (!/^[1-9][0-9]{0,15}$/.test(from))
    throw new WrongUsage('--from must be a version from 1, or start, or now');
  return Number(from);
}

async function follow(
  opened: CliStore,
  of: StreamOfKind,
  first: number | undefined,
  json: boolean,
  context: CliContext,
  signal: AbortSignal,
): Promise<void> {
  const { stream, kind } = of;
  const { stdout, stderr } = context.terminal;
  const { clock } = context;
  const unavailable = ({ message }: StoreUnavailable) => {
    void stderr.line(`The event store is unavailable (${message}); retrying.`).catch(() => {});
  };
  const options = { codec: kind.codec, clock, signal, unavailable };
  // Before the loop, an unavailable store ends the command.
  let head = first === undefined ? await readHead(opened, of) : BEGINNING;
  let from = first ?? 1;
  /** Whether the events after `head` are not in the store, so that it is to be read where they begin. */
  let searching = false;
  /** The head where they begin, until an event follows it. */
  let beginning: Head | undefined;
  let failed = false;
  const startOver = async () => {
    head = BEGINNING;
    from = 1;
    await stderr.line(`The history of ${shown(stream)} was erased or lost; the current one follows.`);
    if (json) await stdout.line(JSON.stringify({ stream, reset: true }));
  };
  while (!signal.aborted) {
    try {
      if (searching) {
        head = await startHeadOf(opened, stream);
        if (head.version > 0 && beginning !== undefined && isSameHead(head, beginning))
          throw new UnreadableHistory(ANOTHER_BASE);
        searching = failed = false;
        beginning = head;
        if (head.version === 0) await startOver();
        else
          await stderr.line(
            `The events of ${shown(stream)} up to version ${head.version} are archived; the later ones follow.`,
          );
      }
      for await (const event of subscribe(opened.store, stream, head, options)) {
        beginning = undefined;
        if (event.version < from) continue;
        await stdout.write(json ? eventLine(kind, stream, event) : `${plainLine(kind, event)}\n`);
      }
    } catch (error) {
      if (error instanceof ArchivedHistory || (error instanceof HistoryChanged && beginning !== undefined)) {
        searching = true;
      } else if (error instanceof HistoryChanged) {
        await startOver();
      } else if (isTransient(error)) {
        if (!failed) unavailable(error);
        failed = true;
        await new Promise<void>((resolve) => void clock.after(RETRY_MS, resolve));
      } else {
        throw error;
      }
    }
  }
}

async function readHead(opened: CliStore, { stream, kind }: StreamOfKind): Promise<Head> {
  const start = await startHeadOf(opened, stream);
  let last: StoredEvent | undefined;
  for await (const page of replay(opened.store, stream, kind.codec, start)) last = page.at(-1) ?? last;
  return last ? headOf(last) : start;
}
