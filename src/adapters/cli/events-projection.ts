import {
  type BucketOrder,
  type Feed,
  type LeaseRecord,
  type LeaseStore,
  type ReportedStop,
  type StreamName,
  leaseRecordOf,
  withOrders,
} from '../../event-sourcing';
import type { Arguments } from './arguments';
import { type CliCommand, type CliContext, type CliStore, JSON_OUTPUT, withStore } from './command';
import { type Exit, Refused, WrongUsage } from './exit';
import { shown } from './stream-text';
import { escapeForTerminal, pluralize } from './terminal';

export const eventsProjection: CliCommand = {
  name: 'events projection',
  summary: 'show projections and their stops; retry or skip',
  positional: 'NAME',
  options: {
    retry: { description: 'try all stopped buckets of the projection again' },
    skip: {
      value: 'STREAM@VERSION',
      description: 'leave out this event, at which a bucket has stopped, for ever',
    },
    ...JSON_OUTPUT,
  },
  details: [
    'Of each projection, or of NAME alone: how many buckets instances work on, how many commits have not been',
    'applied, and each bucket that has stopped, with the event and the error. Exit code 1 if one has stopped or',
    'no instance works on it. A stopped bucket is also tried again by itself after at most 30 seconds.',
    '--retry and --skip reach the instance when it renews its leases, within a few seconds.',
    '',
    '  plant-store events projection',
    '  plant-store events projection tags --skip plants/alice@7',
  ],
  run: (args, context) => withStore(context, (opened) => showOrOrder(args, context, opened)),
};

async function showOrOrder(
  args: Arguments,
  { terminal }: CliContext,
  { leases, feed }: CliStore,
): Promise<Exit> {
  if (leases === undefined || feed === undefined)
    throw new Refused('this store has no projections with leases');
  const { positional: name } = args;
  const orderOf = orderIn(args);
  if (orderOf !== undefined) {
    if (name === undefined) throw new WrongUsage('--retry and --skip need the NAME of a projection');
    await order(leases, name, orderOf);
    return 'done';
  }
  const names = name === undefined ? [...(await leases.projections())].sort() : [name];
  let problems = 0;
  for (const each of names) {
    const { text, now } = await leases.load(each);
    if (text === undefined)
      throw new Refused(`there is no projection ${escapeForTerminal(each)} with leases`);
    const shown = { projection: each, ...(await stateOf(leaseRecordOf(text), now, feed)) };
    problems += shown.stops.length + feed.buckets - shown.buckets;
    await terminal.stdout.write(args.has('json') ? `${JSON.stringify(shown)}\n` : textOf(shown, feed));
  }
  if (problems > 0) throw new Refused('some buckets have stopped, or no instance works on them');
  return 'done';
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

interface ProjectionState {
  readonly buckets: number;
  readonly instances: number;
  /** Commits that have not been applied. */
  readonly behind: number;
  readonly stops: readonly (ReportedStop & { readonly bucket: number })[];
}

async function stateOf(
  { instances, buckets }: LeaseRecord,
  now: number,
  feed: Feed,
): Promise<ProjectionState> {
  const living = Object.keys(instances).filter((name) => instances[name]! > now);
  const held = Object.entries(buckets).filter(([, { instance }]) => living.includes(instance));
  const ends = await Promise.all(held.map(([bucket]) => feed.end(Number(bucket))));
  return {
    buckets: held.length,
    instances: living.length,
    behind: held.reduce(
      (sum, [, { position }], index) => sum + Math.max(0, ends[index]!.sequence - (position ?? 0)),
      0,
    ),
    stops: held.flatMap(([bucket, { stop }]) => (stop ? { bucket: Number(bucket), ...stop } : [])),
  };
}

function textOf(
  { projection, buckets, instances, behind, stops }: ProjectionState & { readonly projection: string },
  feed: Feed,
): string {
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
