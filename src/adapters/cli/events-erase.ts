import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { UnreadableHistory, type User, replay } from '../../application';
import { ImpossibleHistory, PlantList } from '../../domain';
import { type Command, JSON_OUTPUT, type OpenStore, QUIET, USER, withStore } from './command';
import { Refused, WrongUsage } from './exit';
import { type Terminal, counted, shown } from './terminal';

export const eventsErase: Command = {
  name: 'events erase',
  summary: 'remove everything that is stored of a user, for good',
  options: {
    ...USER,
    yes: { meaning: 'do not ask; needed where there is no terminal to ask at' },
    ...QUIET,
    ...JSON_OUTPUT,
  },
  details: [
    'For the right to be forgotten. Revoke the user’s tokens first: whoever still has one can go on creating',
    'plants. Says what there is, asks for the name, removes the whole stream with its key, then waits as long',
    'as a write under way can take (STORE_TIMEOUT_MS) and looks again: exit code 1 where something came back.',
    '',
    'Services that run notice at the user’s next request; until then, or their restart, what they read before',
    'stays in their memory. Backups and the append-only file of Redis keep what they hold:',
    'docs/operations.md says how to forget there.',
    '',
    '  plant-store events erase --user alice',
  ],
  run: (args, world) => {
    const user = args.user();
    const { terminal } = world;
    if (!args.has('yes') && !(terminal.stdin.isTTY && terminal.stderr.isTerminal))
      throw new WrongUsage('there is no terminal to ask at: add --yes where you are sure');
    return withStore(world, async (opened) => {
      const what = await describeStream(opened, user);
      if (what !== undefined && !args.has('yes')) await confirm(terminal, user, what);
      // Also where nothing was found: too few replicas may have confirmed an erasure before.
      const events = await opened.catalogue.erase(user);
      if (what === undefined && events === 0) throw new Refused(`nothing is stored for ${shown(user)}`);
      await new Promise<void>((resolve) => void world.clock.after(opened.timeoutMs, resolve));
      const back = await opened.catalogue.find(user);
      if (args.has('json'))
        await terminal.stdout.line(JSON.stringify({ stream: user, events, back: back !== undefined }));
      else if (!args.has('quiet'))
        await terminal.stdout.line(`Erased ${counted(events, 'event')} of ${shown(user)}.`);
      if (back !== undefined)
        throw new Refused(`somebody writes for ${shown(user)} again: revoke the tokens, then erase again`);
      return 'done';
    });
  },
};

/** `undefined` where there is nothing. What cannot be read can be erased all the same. */
async function describeStream({ store, catalogue }: OpenStore, user: User): Promise<string | undefined> {
  const found = await catalogue.find(user);
  if (found === undefined) return undefined;
  const list = new PlantList();
  try {
    for await (const page of replay(store, user)) for (const { event } of page) list.evolve(event);
    return `${counted(list.version, 'event')} and ${counted(list.size, 'living plant')}`;
  } catch (error) {
    if (error instanceof UnreadableHistory || error instanceof ImpossibleHistory)
      return `up to ${found.version} events, not all of them readable (${error.message})`;
    throw error;
  }
}

async function confirm({ stdin, stderr }: Terminal, user: User, what: string): Promise<void> {
  await stderr.line(`${shown(user)} has ${what}. What is erased cannot be brought back.`);
  await stderr.write('To erase them, type the name of the user: ');
  const lines = createInterface({ input: stdin });
  // The end of the input is an answer, too.
  const [answer] = (await Promise.race([once(lines, 'line'), once(lines, 'close')])) as [string?];
  lines.close();
  if (answer !== user) throw new Refused('that is not the name; nothing was erased');
}
