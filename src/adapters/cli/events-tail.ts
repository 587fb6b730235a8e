import type { PlantEvent } from '../../domain';
import { type User } from '../../application';
import {
  BEGINNING,
  type EventStore,
  type Head,
  HistoryChanged,
  type RecordedEvent,
  StoreUnavailable,
  UnreadableHistory,
  headOf,
  replay,
} from '../../event-sourcing';
import type { Arguments } from './arguments';
import { type Command, JSON_OUTPUT, USER, type CliContext, withStore } from './command';
import { eventLine } from './event-lines';
import { WrongUsage } from './exit';
import { escapeForTerminal } from './terminal';

/** Polling interval. */
const POLL_MS = 200;

export const eventsTail: Command = {
  name: 'events tail',
  summary: 'print a user’s events as they are recorded',
  options: {
    ...USER,
    from: { value: 'VERSION', description: 'first event to show: a version, `start`, or `now` (default)' },
    ...JSON_OUTPUT,
  },
  details: [
    'Prints one event per line: version, commit, type, id, name and tag, separated by tabs; with --json, in the',
    'format of `events export`. Runs until Ctrl-C (exit code 0), and keeps retrying while the store is',
    'unavailable. If the history was erased, or lost in a failover, it says so, with --json by the line',
    '{"stream":…,"reset":true}, and continues with the current history.',
    '',
    '  plant-store events tail --user alice --from start',
  ],
  run: (args, context) => {
    const user = args.user();
    const first = firstVersion(args);
    return withStore(context, async ({ store }) => {
      await follow(store, user, first, args.has('json'), context);
      return 'done';
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
  store: EventStore<PlantEvent>,
  user: User,
  first: number | undefined,
  json: boolean,
  context: CliContext,
) {
  const { stdout, stderr } = context.terminal;
  const interrupted = context.untilInterrupted();
  const ended = () => interrupted.aborted;
  // Fails before the loop: until the first read succeeds, an unavailable store ends the command.
  let head = first === undefined ? await readHead(store, user) : BEGINNING;
  let from = first ?? 1;
  let unavailable = false;
  while (!ended()) {
    try {
      for await (const page of replay(store, user, head)) {
        if (ended()) return;
        unavailable = false;
        const lines = page
          .filter(({ version }) => version >= from)
          .map((event) => (json ? eventLine(user, event) : `${plainLine(event)}\n`));
        if (lines.length > 0) await stdout.write(lines.join(''));
        head = lastHeadOf(page) ?? head;
      }
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || error instanceof UnreadableHistory) throw error;
      if (error instanceof HistoryChanged) {
        head = BEGINNING;
        from = 1;
        await stderr.line(
          `The history of ${escapeForTerminal(user)} was erased or lost; the current one follows.`,
        );
        if (json) await stdout.line(JSON.stringify({ stream: user, reset: true }));
        continue;
      }
      if (!unavailable) await stderr.line(`The event store is unavailable (${error.message}); retrying.`);
      unavailable = true;
    }
    await pause(context, interrupted);
  }
}

async function readHead(store: EventStore<PlantEvent>, user: User): Promise<Head> {
  let head = BEGINNING;
  for await (const page of replay(store, user)) head = lastHeadOf(page) ?? head;
  return head;
}

function lastHeadOf(page: readonly RecordedEvent<PlantEvent>[]): Head | undefined {
  const last = page.at(-1);
  return last && headOf(last);
}

function plainLine({ version, commit, event }: RecordedEvent<PlantEvent>): string {
  return [String(version), commit, event.type, event.id, ...columnsOf(event)]
    .map(escapeForTerminal)
    .join('\t');
}

/** The columns of a plain line after type and id. */
function columnsOf(event: PlantEvent): string[] {
  switch (event.type) {
    case 'PlantCreated':
      return event.tag === undefined ? [event.name] : [event.name, event.tag];
    case 'PlantDeleted':
      return [];
  }
}

async function pause({ clock }: CliContext, interrupted: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const end = () => {
      cancel();
      interrupted.removeEventListener('abort', end);
      resolve();
    };
    const cancel = clock.after(POLL_MS, end);
    interrupted.addEventListener('abort', end);
  });
}
