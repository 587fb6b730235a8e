import type { ListQuery } from '../../application';
import type { Rejection } from '../../domain';
import {
  MEMBERS,
  MEMBER_NAMES,
  NewPlant,
  PLANT_ID_RULE,
  type Plant,
  type PlantId,
  columnsOf,
  parsePlantId,
} from '../../domain';
import type { Arguments, Options } from './arguments';
import { type CliCommand, JSON_OUTPUT, USER, withStore } from './command';
import { Refused, WrongUsage } from './exit';
import { escapeForTerminal } from './terminal';

const ID = {
  value: 'ID',
  description: 'a whole number, -2^63 … 2^63-1; write a negative one --id=-7',
  required: true,
} as const;

const MEMBER_OPTIONS: Options = Object.fromEntries(
  MEMBER_NAMES.map((name) => {
    const { optional, minLength } = MEMBERS[name];
    const text = minLength === 0 ? 'any text' : 'at least one character';
    const option = { value: 'TEXT', description: optional ? `${text}; optional` : text };
    return [name, optional ? option : { ...option, required: true }];
  }),
);

const CONSISTENCY =
  'Applies the same rules as the service, to the same store; running services see the change at once.';

export const create: CliCommand = {
  name: 'create',
  summary: 'create a plant',
  options: {
    ...USER,
    id: ID,
    ...MEMBER_OPTIONS,
    ...JSON_OUTPUT,
  },
  details: [
    CONSISTENCY,
    'Exit code 1 if a living plant of the user has the id; then nothing is changed.',
    '',
    "  plant-store create --user alice --id 7 --name 'Boston fern' --tag indoor",
  ],
  run: (args, context) => {
    const user = args.user();
    const plant = newPlant(args);
    return withStore(context, async ({ plants }) => {
      const { rejection } = await plants.create(user, plant);
      if (rejection) throw new Refused(describeRejection(rejection, user, plant.id));
      const { members } = plant;
      await context.terminal.stdout.line(args.has('json') ? JSON.stringify(members) : plainLine(members));
      return 'done';
    });
  },
};

type Query = Omit<ListQuery, 'after'>;

/** An option for each member of a query but the cursor. */
const QUERY_OPTIONS: Readonly<Record<keyof Query, Options[string]>> = {
  limit: { value: 'N', description: 'maximum number of plants, 0 or more; all by default' },
};

export const list: CliCommand = {
  name: 'list',
  summary: 'list a user’s plants',
  options: {
    ...USER,
    ...QUERY_OPTIONS,
    ids: { description: 'show the id of each plant as well, first' },
    ...JSON_OUTPUT,
  },
  details: [
    `In order of creation, one plant per line: ${MEMBER_NAMES.join(', ')}, separated by tabs. Text with control or`,
    'invisible characters is quoted as in JSON. With --json, one array as from GET /plants, the ids as strings.',
    '',
    '  plant-store list --user alice --limit 10',
  ],
  run: (args, context) => {
    const user = args.user();
    const query: Required<Query> = { limit: args.number('limit', 0) ?? Infinity };
    return withStore(context, async ({ plants }) => {
      const page = await plants.list(user, query, (selection) => selection.page());
      const { stdout, stderr } = context.terminal;
      const shown = [...page.living()];
      const withId = args.has('ids');
      if (args.has('json'))
        await stdout.line(JSON.stringify(shown.map(({ id, plant }) => (withId ? { id, ...plant } : plant))));
      else
        for (const { id, plant } of shown) await stdout.line(`${withId ? `${id}\t` : ''}${plainLine(plant)}`);
      if (page.next !== undefined && !args.has('json')) await stderr.line('There are more.');
      return 'done';
    });
  },
};

export const remove: CliCommand = {
  name: 'delete',
  summary: 'delete a plant',
  options: { ...USER, id: ID, ...JSON_OUTPUT },
  details: [
    CONSISTENCY,
    'Exit code 1 if the user has no such plant.',
    '',
    '  plant-store delete --user alice --id 7',
  ],
  run: (args, context) => {
    const user = args.user();
    const id = plantId(args);
    return withStore(context, async ({ plants }) => {
      const { rejection } = await plants.delete(user, id);
      if (rejection) throw new Refused(describeRejection(rejection, user, id));
      return 'done';
    });
  },
};

function newPlant(args: Arguments): NewPlant {
  const members = Object.fromEntries(MEMBER_NAMES.map((name) => [name, args.text(name)]));
  const { plant, invalid } = NewPlant.from({ ...members, id: args.text('id') });
  if (invalid) throw new WrongUsage(`--${invalid.member} must be ${invalid.rule}`);
  return plant;
}

function plantId(args: Arguments): PlantId {
  const id = parsePlantId(args.text('id')!);
  if (id === undefined) throw new WrongUsage(`--id must be ${PLANT_ID_RULE}`);
  return id;
}

/** The columns of a plant; empty for a member that it does not have. */
function plainLine(plant: Plant): string {
  return columnsOf(plant)
    .map((text) => escapeForTerminal(text ?? ''))
    .join('\t');
}

function describeRejection(rejection: Rejection, user: string, id: PlantId): string {
  switch (rejection) {
    case 'id-taken':
      return `a living plant of ${escapeForTerminal(user)} has the id ${id}`;
    case 'no-such-plant':
      return `${escapeForTerminal(user)} has no plant with the id ${id}`;
  }
}
