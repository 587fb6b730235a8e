import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { type User, plantCodec, plantsOf } from '../../application';
import {
  ArchivedHistory,
  HistoryChanged,
  type StreamName,
  UnreadableHistory,
  replay,
} from '../../event-sourcing';
import { ImpossibleHistory } from '../../domain';
import { startOf } from './base';
import { type Command, JSON_OUTPUT, type OpenStore, QUIET, USER, withStore } from './command';
import { Refused, WrongUsage } from './exit';
import { type Terminal, pluralize, escapeForTerminal } from './terminal';

export const eventsErase: Command = {
  name: 'events erase',
  summary: 'delete all stored events of a user, permanently',
  options: {
    ...USER,
    yes: { description: 'do not ask for confirmation; required without a terminal' },
    ...QUIET,
    ...JSON_OUTPUT,
  },
  details: [
    'For the right to be forgotten. Revoke the user’s tokens first: with a valid token, a client can still',
    'create plants. The command shows what is stored, asks for the user’s name, deletes the stream and its snapshots,',
    'waits as long as a write in flight can take (STORE_TIMEOUT_MS), and checks again: exit code 1 if the',
    'stream exists again.',
    '',
    'A running service detects the erasure at the user’s next request. Until then, or until it restarts, it',
    'keeps the plants in memory. Backups and the append-only file of Redis keep the events:',
    'docs/operations.md explains how to erase them there. Archives are files of yours: delete them, too.',
    '',
    '  plant-store events erase --user alice',
  ],
  run: (args, context) => {
    const user = args.user();
    const stream = plantsOf(user);
    const { terminal } = context;
    if (!args.has('yes') && !(terminal.stdin.isTTY && terminal.stderr.isTerminal))
      throw new WrongUsage('without a terminal, --yes is required as confirmation');
    return withStore(context, async (opened) => {
      const archived = await opened.snapshots?.loadBase?.(stream);
      const what =
        (await describeStream(opened, stream)) ??
        (archived && `the base snapshot of version ${archived.head.version}, and no events`);
      if (what !== undefined && !args.has('yes')) await confirm(terminal, user, what);
      // Even if no stream was found: an earlier erasure may have been confirmed by too few replicas.
      const events = await opened.catalogue.erase(stream);
      if (what === undefined && events === 0)
        throw new Refused(`nothing is stored for ${escapeForTerminal(user)}`);
      await new Promise<void>((resolve) => void context.clock.after(opened.timeoutMs, resolve));
      const back = await opened.catalogue.find(stream);
      if (args.has('json'))
        await terminal.stdout.line(JSON.stringify({ stream, events, back: back !== undefined }));
      else if (!args.has('quiet'))
        await terminal.stdout.line(`Erased ${pluralize(events, 'event')} of ${escapeForTerminal(user)}.`);
      if (archived !== undefined)
        await terminal.stderr.line(
          `Delete the archives of ${escapeForTerminal(user)}, too: they have the events up to version ${archived.head.version}.`,
        );
      if (back !== undefined)
        throw new Refused(
          `${escapeForTerminal(user)} was written to again: revoke the tokens, then repeat the command`,
        );
      return 'done';
    });
  },
};

/** The last two are thrown if the base snapshot is of another history. */
const UNREADABLE = [UnreadableHistory, ImpossibleHistory, HistoryChanged, ArchivedHistory];

/** Describes what is stored of `stream`; `undefined` if nothing is. An unreadable history is described, too. */
async function describeStream(opened: OpenStore, stream: StreamName): Promise<string | undefined> {
  const found = await opened.catalogue.find(stream);
  if (found === undefined) return undefined;
  try {
    const { list, head } = await startOf(opened, stream);
    for await (const page of replay(opened.store, stream, plantCodec, head))
      for (const { event } of page) list.evolve(event);
    return `${pluralize(list.version, 'event')} and ${pluralize(list.size, 'living plant')}`;
  } catch (error) {
    if (UNREADABLE.some((Fault) => error instanceof Fault))
      return `up to ${found.version} events, not all of them readable (${(error as Error).message})`;
    throw error;
  }
}

async function confirm({ stdin, stderr }: Terminal, user: User, what: string): Promise<void> {
  await stderr.line(`${escapeForTerminal(user)} has ${what}. Erasing them cannot be undone.`);
  await stderr.write('To erase them, type the name of the user: ');
  const lines = createInterface({ input: stdin });
  // The end of the input counts as an answer that does not match.
  const [answer] = (await Promise.race([once(lines, 'line'), once(lines, 'close')])) as [string?];
  lines.close();
  if (answer !== user) throw new Refused('the name does not match; nothing was erased');
}
