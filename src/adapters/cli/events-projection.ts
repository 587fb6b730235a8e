import {
  type BucketOrder,
  type CheckpointStore,
  type Feed,
  type LeaseStore,
  type ProjectionState,
  type ReportedStop,
  type StreamName,
  headKeyOf,
  leaseRecordOf,
  livingInstances,
  projectionState,
  withOrders,
} from '../../event-sourcing';
import type { Arguments } from './arguments';
import { type CliCommand, type CliContext, type CliStore, JSON_OUTPUT, withStore } from './command';
import { type Exit, Refused, WrongUsage } from './exit';
import { shown } from './stream-text';
import { escapeForTerminal, pluralize } from './terminal';

export const eventsProjection: CliCommand = {
  name: 'events projection',
  summary: 'show projections and their stops; retry, skip or remove',
  positional: 'NAME',
  options: {
    retry: { description: 'try all stopped buckets of the projection again' },
    skip: {
      value: 'STREAM@VERSION',
      description: 'leave out this event, at which a bucket has stopped, for ever',
    },
    remove: { description: 'remove what the store keeps of a projection without instances' },
    ...JSON_OUTPUT,
  },
  details: [
    'Of each projection, or of NAME alone: how many buckets instances work on, how many commits have not been',
    'applied, and each bucket that has stopped, with the event and the error. Exit code 1 if one has stopped or',
    'no instance works on it. A stopped bucket is also tried again by itself after at most 30 seconds.',
    '--retry and --skip reach the instance when it renews its leases, within a few seconds. --remove is for a',
    'projection that another version has replaced: its leases and its checkpoint in the store. An instance of',
    'it that is started afterwards begins again.',
    '',
    '  plant-store events projection',
    '  plant-store events projection tags --skip plants/alice@7',
  ],
  run: (args, context) => withStore(context, (opened) => showOrOrder(args, context, opened)),
};

async function showOrOrder(
  args: Arguments,
  { terminal }: CliContext,
  { leases, feed, checkpoints }: CliStore,
): Promise<Exit> {
  if (leases === undefined || feed === undefined)
    throw new Refused('this store has no projections with leases');
  const { positional: name } = args;
  const orderOf = orderIn(args);
  if (args.has('remove')) {
    if (name === undefined || orderOf !== undefined)
      throw new WrongUsage('--remove needs the NAME of a projection, and no other order');
    await remove(leases, feed.buckets, checkpoints?.(name), name);
    return 'done';
  }
  if (orderOf !== undefined) {
    if (name === undefined) throw new WrongUsage('--retry and --skip need the NAME of a projection');
    await order(leases, name, orderOf);
    return 'done';
  }
  const names = name === undefined ? [...(await leases.projections())].sort() : [name];
  let problems = 0;
  for (const each of names) {
    const state = await projectionState(leases, feed, each);
    if (state === undefined) throw noProjection(each);
    problems += state.stops.length + feed.buckets - state.buckets;
    await terminal.stdout.write(args.has('json') ? `${JSON.stringify(state)}\n` : textOf(state, feed));
  }
  if (problems > 0) throw new Refused('some buckets have stopped, or no instance works on them');
  return 'done';
}

function noProjection(name: string): Refused {
  return new Refused(`there is no projection ${escapeForTerminal(name)} with leases`);
}

async function remove(
  leases: LeaseStore,
  buckets: number,
  checkpoint: CheckpointStore | undefined,
  name: string,
): Promise<void> {
  const { text, now } = await leases.load(name);
  if (text === undefined) throw noProjection(name);
  const instances = Object.keys(livingInstances(leaseRecordOf(text), now)).length;
  if (instances > 0)
    throw new Refused(`${pluralize(instances, 'instance')} of the projection run: end them first`);
  // The leases last: as long as they are there, the command can be repeated.
  for (let bucket = 0; checkpoint !== undefined && bucket < buckets; bucket++) {
    const key = String(bucket);
    const [expected] = await checkpoint.load([key]);
    const keys = [key];
    for await (const each of checkpoint.keys(headKeyOf(bucket, ''))) keys.push(each);
    if (expected !== undefined || keys.length > 1)
      await checkpoint.save({ key, expected, values: new Map(keys.map((each) => [each, undefined])) });
  }
  if (!(await leases.save(name, text, undefined)))
    throw new Refused('an instance of the projection has started meanwhile: end it, and repeat the command');
}

function orderIn(args: Arguments): ((stop: ReportedStop) => BucketOrder | undefined) | undefined {
  const skip = args.text('skip');
  if (skip === undefined) return args.has('retry') ? () => 'retry' : undefined;
  const parts = /^([^]+)@(\d+)$/.exec(skip);
  if (parts === null) throw new WrongUsage('--skip takes STREAM@VERSION, as the stop has it');
  const [, stream, version] = parts as unknown as [string, string, string];
  return (stop) =>
    stop.stream === stream && stop.version === Number(version)
      ? { skip: { stream, version: Number(version) } }
      : undefined;
}

async function order(
  leases: LeaseStore,
  name: string,
  orderOf: (stop: ReportedStop) => BucketOrder | undefined,
): Promise<void> {
  for (let saved = false; !saved;) {
    const { text } = await leases.load(name);
    const record = leaseRecordOf(text);
    const ordered = withOrders(record, orderOf);
    if (ordered === record) throw new Refused('no bucket of the projection has stopped there');
    saved = await leases.save(name, text, JSON.stringify(ordered));
  }
}

function textOf({ projection, buckets, instances, behind, stops }: ProjectionState, feed: Feed): string {
  const lines = stops.map(({ bucket, stream, version, error }) => {
    const where =
      stream === undefined
        ? ''
        : ` at ${shown(stream as StreamName)}${version === undefined ? '' : `@${version}`}`;
    return `  bucket ${bucket} has stopped${where}: ${escapeForTerminal(error)}`;
  });
  const held = `${buckets} of ${feed.buckets} buckets`;
  lines.unshift(
    `${escapeForTerminal(projection)}: ${held}, ${pluralize(instances, 'instance')}, ${pluralize(behind, 'commit')} behind`,
  );
  return lines.map((line) => `${line}\n`).join('');
}
