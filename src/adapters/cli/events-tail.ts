import {
  BEGINNING,
  type EventStore,
  type Head,
  HistoryChanged,
  type RecordedEvent,
  StoreUnavailable,
  UnreadableHistory,
  type User,
  headOf,
  replay,
} from '../../application';
import type { Arguments } from './arguments';
import { type Command, JSON_OUTPUT, USER, type World, withStore } from './command';
import { eventLine } from './event-lines';
import { WrongUsage } from './exit';
import { shown } from './terminal';

/** How often the store is asked for what is newer. */
const POLL_MS = 200;

export const eventsTail: Command = {
  name: 'events tail',
  summary: 'follow a user’s events as they are recorded',
  options: {
    ...USER,
    from: { value: 'VERSION', meaning: 'first to be shown: a version, `start`, or `now` (by default)' },
    ...JSON_OUTPUT,
  },
  details: [
    'An event a line: version, commit, type, id, name and tag, a tab between. With --json as `events export`',
    'writes them. Goes on until Ctrl-C, exit code 0, also while the store is away for a time. Where the history',
    'was erased, or lost in a failover, it says so and goes on with the one that is there now; with --json',
    'by the line {"stream":…,"reset":true}.',
    '',
    '  plant-store events tail --user alice --from start',
  ],
  run: (args, world) => {
    const user = args.user();
    const first = firstVersion(args);
    return withStore(world, async ({ store }) => {
      await follow(store, user, first, args.has('json'), world);
      return 'done';
    });
  },
};

/** `undefined` is now. */
function firstVersion(args: Arguments): number | undefined {
  const from = args.text('from') ?? 'now';
  if (from === 'now') return undefined;
  if (from === 'start') return 1;
  if (!/^[1-9][0-9]{0,15}$/.test(from))
    throw new WrongUsage('--from must be a version from 1, or start, or now');
  return Number(from);
}

async function follow(store: EventStore, user: User, first: number | undefined, json: boolean, world: World) {
  const { stdout, stderr } = world.terminal;
  const interrupted = world.untilInterrupted();
  const over = () => interrupted.aborted;
  // Where it starts must be known before it is said that anything is followed.
  let head = first === undefined ? await endOf(store, user) : BEGINNING;
  let from = first ?? 1;
  let away = false;
  while (!over()) {
    try {
      for await (const page of replay(store, user, head)) {
        if (over()) return;
        away = false;
        const lines = page
          .filter(({ version }) => version >= from)
          .map((event) => (json ? eventLine(user, event) : `${plainLine(event)}\n`));
        if (lines.length > 0) await stdout.write(lines.join(''));
        head = headBehind(page) ?? head;
      }
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || error instanceof UnreadableHistory) throw error;
      if (error instanceof HistoryChanged) {
        head = BEGINNING;
        from = 1;
        await stderr.line(
          `The history of ${shown(user)} was erased or lost; here is the one that is there now.`,
        );
        if (json) await stdout.line(JSON.stringify({ stream: user, reset: true }));
        continue;
      }
      if (!away) await stderr.line(`The event store is away (${error.message}); trying on.`);
      away = true;
    }
    await pause(world, interrupted);
  }
}

async function endOf(store: EventStore, user: User): Promise<Head> {
  let head = BEGINNING;
  for await (const page of replay(store, user)) head = headBehind(page) ?? head;
  return head;
}

function headBehind(page: readonly RecordedEvent[]): Head | undefined {
  const last = page.at(-1);
  return last && headOf(last);
}

function plainLine({ version, commit, event }: RecordedEvent): string {
  const what =
    event.type === 'PlantCreated' ? [event.name, ...(event.tag === undefined ? [] : [event.tag])] : [];
  return [String(version), commit, event.type, event.id, ...what].map(shown).join('\t');
}

async function pause({ clock }: World, interrupted: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const over = () => {
      cancel();
      interrupted.removeEventListener('abort', over);
      resolve();
    };
    const cancel = clock.after(POLL_MS, over);
    interrupted.addEventListener('abort', over);
  });
}
