import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { User } from '../../application';
import { type StreamName, partsOf, replay } from '../../event-sourcing';
import type { Arguments } from './arguments';
import { startOf } from './base';
import {
  type CliContext,
  type CliCommand,
  JSON_OUTPUT,
  type CliStore,
  QUIET,
  USER,
  withStore,
} from './command';
import { type Exit, Refused, WrongUsage, isOfHistory } from './exit';
import { type StreamOfKind, findStreams, streamsOf } from './found-streams';
import { shown } from './stream-text';
import { type Terminal, pluralize, escapeForTerminal } from './terminal';

export const eventsErase: CliCommand = {
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
    'write. The command shows what is stored, asks for the user’s name, deletes the streams of all kinds of aggregates',
    'with their snapshots, waits as long as a write in flight can take (STORE_TIMEOUT_MS), and checks again: exit',
    'code 1 if a stream exists again, or if the store has streams of a category that this version does not know.',
    '',
    'A running service detects the erasure at the user’s next request. Until then, or until it restarts, it',
    'keeps the state in memory. Backups and the append-only file of Redis keep the events:',
    'docs/operations.md explains how to erase them there. Archives are files of yours: delete them, too.',
    '',
    '  plant-store events erase --user alice',
  ],
  run: (args, context) => {
    const { terminal } = context;
    if (!args.has('yes') && !(terminal.stdin.isTTY && terminal.stderr.isTerminal))
      throw new WrongUsage('without a terminal, --yes is required as confirmation');
    return withStore(context, (opened) => eraseUser(args, context, opened));
  },
};

/** What is stored of one stream. */
interface Stored extends StreamOfKind {
  /** For people; `undefined` if nothing is. */
  readonly what: string | undefined;
  /** The last version that was archived; `undefined` if none was. */
  readonly archived: number | undefined;
}

async function eraseUser(args: Arguments, context: CliContext, opened: CliStore): Promise<Exit> {
  const user = args.user();
  const { terminal, kinds } = context;
  const name = escapeForTerminal(user);
  const problems: string[] = [];
  const { unknown } = await findStreams(opened.catalogue, kinds, []);
  if (unknown.length > 0) problems.push(unknownCategories(unknown));

  const stored: Stored[] = [];
  for (const stream of streamsOf(kinds, user)) stored.push(await describeStream(opened, stream));
  const found = stored.map(({ what }) => what).filter((what) => what !== undefined);
  if (found.length > 0 && !args.has('yes')) await confirm(terminal, user, found.join(', and '));

  const erased = new Map<Stored, number>();
  // Even if no stream was found: an earlier erasure may have been confirmed by too few replicas.
  for (const each of stored) {
    const events = await opened.catalogue.erase(each.stream);
    if (each.what !== undefined || events > 0) erased.set(each, events);
  }
  if (erased.size === 0) throw new Refused([`nothing is stored for ${name}`, ...problems].join('; '));
  await new Promise<void>((resolve) => void context.clock.after(opened.timeoutMs, resolve));
  for (const each of stored) {
    const { stream, archived } = each;
    const back = (await opened.catalogue.find(stream)) !== undefined;
    if (!erased.has(each) && !back) continue;
    const events = erased.get(each) ?? 0;
    if (args.has('json')) await terminal.stdout.line(JSON.stringify({ stream, events, back }));
    if (archived !== undefined)
      await terminal.stderr.line(
        `Delete the archives of ${shown(stream)}, too: they have the events up to version ${archived}.`,
      );
    if (back)
      problems.push(`${shown(stream)} was written to again: revoke the tokens, then repeat the command`);
  }
  const sum = [...erased.values()].reduce((total, events) => total + events, 0);
  if (!args.has('json') && !args.has('quiet'))
    await terminal.stdout.line(`Erased ${pluralize(sum, 'event')} of ${name}.`);
  if (problems.length > 0) throw new Refused(problems.join('; '));
  return 'done';
}

function unknownCategories(streams: readonly StreamName[]): string {
  const categories = new Set(streams.map((stream) => partsOf(stream).category ?? 'none'));
  return (
    `this version does not know all categories of the streams in the store (${[...categories].join(', ')}): ` +
    'they may have events of the user, and were not erased'
  );
}

async function describeStream(opened: CliStore, of: StreamOfKind): Promise<Stored> {
  const archived = (await opened.snapshots?.loadBase?.(of.stream))?.head.version;
  const base = archived === undefined ? undefined : `the base snapshot of version ${archived}, and no events`;
  return { ...of, archived, what: (await describeEvents(opened, of)) ?? base };
}

/** Describes what is stored of a stream; `undefined` if nothing is. An unreadable history is described, too. */
async function describeEvents(opened: CliStore, of: StreamOfKind): Promise<string | undefined> {
  const found = await opened.catalogue.find(of.stream);
  if (found === undefined) return undefined;
  try {
    const { state, head } = await startOf(opened, of);
    for await (const page of replay(opened.store, of.stream, of.kind.codec, head))
      for (const event of page) state.apply(event);
    return `${pluralize(state.head.version, 'event')} and ${pluralize(state.items, of.kind.item)}`;
  } catch (error) {
    if (isOfHistory(error))
      return `up to ${found.version} events, not all of them readable (${error.message})`;
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
