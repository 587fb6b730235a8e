/**
 * A read model of all streams of a Cluster: 64 writers, and four instances of one projection that share the buckets, while
 * servers and instances fail. At the end the read model must have exactly what is stored.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type OpenRedisEventStore, openRedisEventStore } from '../../../src/adapters/redis';
import { type StreamName, isTransient } from '../../../src/event-sourcing';
import { isAppliedUpTo } from '../../../src/event-sourcing/subscriptions/bucket-checkpoint';
import { historyOf } from '../../event-sourcing/one-projection';
import { isOnPath } from '../../support/programs';
import { randomFrom } from '../../support/random';
import { until } from '../../support/until';
import { CLUSTER_FAULTS, type Faults, type FaultStep, type Rig, only, scheduleOf } from '../faults/faults';
import type { RunOptions, Scenario, ScenarioOutcome } from '../scenario';
import { cluster } from '../topology/cluster';
import { RedisProgram } from '../topology/redis-program';
import { STORE_TIMEOUT_MS } from '../topology/service-instance';
import { PROJECTION_LINE, PROJECTION_URL, settled, stop } from '../topology/topology';
import { Audit } from './audit';
import { differences } from './differences';
import { Part } from './part';

const CONSUMERS = 4;
/** Of the feed of each bucket: the feed is trimmed while a consumer is away. */
const FEED_LENGTH = 500;
const CAUGHT_UP_WITHIN_MS = 120_000;
const READS_AT_A_TIME = 16;

const SERVER_FAULTS = only(
  CLUSTER_FAULTS,
  ...['kill a primary until a replica takes over', 'kill a primary without its replicas'],
  ...['freeze a primary', 'freeze a primary until a replica takes over', 'cut the connections of a primary'],
  ...['move the slot of a user', 'move the slot of a user to a frozen primary', 'fail over as planned'],
);

/** A fault, on the clock of `Date.now()`, from the end of the one before: servers may fail over when it has ended. */
export interface Window {
  readonly fault: string;
  readonly from: number;
  readonly to: number;
  /** Whether it may lose the end of feeds. */
  readonly loses: boolean;
}

export const READ_MODEL: Readonly<Record<string, Scenario>> = {
  'read model in a Cluster': {
    short: 3,
    takesAll: true,
    unavailable: () => (isOnPath('redis-server') ? undefined : 'no redis-server is on the PATH'),
    run: play,
  },
};

function consumerFaults(consumers: readonly Part[]): Faults {
  const picked = (roll: number) => consumers[Math.floor(roll * consumers.length)]!;
  return {
    async 'kill a consumer'(_, { roll, lastsMs }) {
      await picked(roll).kill();
      await pause(lastsMs);
      await picked(roll).run();
      return undefined;
    },
    async 'freeze a consumer'(_, { roll, lastsMs }) {
      picked(roll).signal('SIGSTOP');
      await pause(2 * lastsMs);
      picked(roll).signal('SIGCONT');
      return undefined;
    },
  };
}

async function play({ seed, continues, progress }: RunOptions): Promise<ScenarioOutcome> {
  const random = randomFrom(seed);
  // With a disk of the default size, primaries would end when it is full, and without two of them no replica takes over.
  const topology = await cluster({ diskMb: 4096, lines: [PROJECTION_LINE] }).start(random);
  const target = await RedisProgram.start({ lines: () => ['save ""'] });
  const audit = new Audit(target.port);
  const clusterNodes = topology.nodes.map(({ known }) => known);
  const environment = {
    ...{ url: PROJECTION_URL, clusterNodes },
    ...{ timeoutMs: STORE_TIMEOUT_MS, feedLength: FEED_LENGTH },
  };
  const options = { environment, auditPort: target.port };
  const writers = await Part.start({ ...options, seed });
  const consumers = await Promise.all(Array.from({ length: CONSUMERS }, () => Part.start(options)));
  const opened = await openRedisEventStore({ ...environment, createsId: false });
  const faults = { ...SERVER_FAULTS, ...consumerFaults(consumers) };
  const users = Array.from({ length: 64 }, (_, index) => `w${index}-0`);
  const rig: Rig = { topology, instances: [], users, archived: new Map(), served: async () => {} };
  const windows: Window[] = [];
  const violations: string[] = [];

  let [epoch, from] = [await topology.epoch(), Date.now()];
  const inject = async (step: FaultStep) => {
    await pause(step.pauseMs);
    const effect = (await faults[step.fault]!(rig, step)) ?? {};
    await settled(topology);
    await caughtUp(opened, audit);
    const [epochBefore, to] = [epoch, Date.now()];
    epoch = await topology.epoch();
    windows.push({
      fault: step.fault,
      from,
      to,
      loses: epoch - epochBefore > (effect.plannedFailovers ?? 0),
    });
    from = to;
  };
  let summary = '';
  try {
    const schedule = scheduleOf(faults, random);
    do {
      const step = schedule.next().value;
      progress?.(`${await audit.events()} events were applied; next: ${step.fault}`);
      await inject(step).catch((error: unknown) => {
        throw new Error(`${step.fault}: ${String(error)}`, { cause: error });
      });
    } while (continues(windows.length));
    const appended = await writers.stopWriting();
    await caughtUp(opened, audit);
    const found = await compared(opened, audit, appended.streams);
    const [resets, undone] = [await audit.times('resets'), await audit.times('undone')];
    violations.push(...found.violations, ...reportProblems(windows, resets, undone));
    const { events, commits, lost, streams } = appended;
    summary =
      `${windows.length} faults, ${windows.filter(({ loses }) => loses).length} of them failovers that may lose; ` +
      `${events} events in ${commits} commits to ${streams.length} streams were acknowledged, ${lost} commits found ` +
      `lost by their writers; ${resets.length} resets reported, ${undone.length} streams replaced; ` +
      `${found.events} events compared: ${found.skipped} skipped, ${found.twice} twice, ${found.lost} not stored`;
  } catch (error) {
    violations.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
  violations.push(...(await audit.problems()).slice(0, 20));
  opened.close();
  for (const part of [writers, ...consumers]) await part.kill();
  audit.close();
  await target.stop();
  await stop(topology);
  return { violations, summary };
}

/** Resolves once each bucket is applied up to where its feed ended, and has no position that was lost. */
async function caughtUp({ feed }: OpenRedisEventStore, audit: Audit): Promise<void> {
  const ofBucket = async (bucket: number) => {
    let end = Infinity;
    const isReached = async () => {
      try {
        // After a loss, it ends earlier.
        end = Math.min(end, (await feed.end(bucket)).sequence);
        const [text] = await audit.load([String(bucket)]);
        await pause(50);
        return await isAppliedUpTo(feed, bucket, text, end);
      } catch (error) {
        if (!isTransient(error)) throw error;
        return false;
      }
    };
    await until(isReached, CAUGHT_UP_WITHIN_MS);
  };
  await Promise.all(Array.from({ length: feed.buckets }, (_, bucket) => ofBucket(bucket)));
}

/** Compares the read model with all streams. */
async function compared(
  { store, catalogue }: OpenRedisEventStore,
  audit: Audit,
  appended: readonly StreamName[],
) {
  const streams = new Set([...appended, ...(await audit.streams())]);
  for await (const found of catalogue.streams()) if ('stream' in found) streams.add(found.stream);
  const sum = { events: 0, skipped: 0, twice: 0, lost: 0, violations: [] as string[] };
  const left = [...streams];
  const compare = async () => {
    for (let stream = left.pop(); stream !== undefined; stream = left.pop()) {
      const stored = await historyOf(store, stream);
      const { skipped, twice, lost } = differences(await audit.appliedOf(stream), stored);
      sum.events += stored.length;
      sum.skipped += skipped;
      sum.twice += twice;
      sum.lost += lost;
      if (skipped + twice + lost > 0)
        sum.violations.push(`${stream}: ${skipped} skipped, ${twice} twice, ${lost} not stored`);
    }
  };
  await Promise.all(Array.from({ length: READS_AT_A_TIME }, compare));
  return sum;
}

type Times = readonly { readonly at: number; readonly bucket: number }[];

/** A replaced stream whose bucket reported no reset in the same fault, and resets without a failover. */
export function reportProblems(windows: readonly Window[], resets: Times, undone: Times): string[] {
  const during = (at: number) => windows.find(({ from, to }) => at >= from && at <= to);
  const silent = undone.filter(({ at, bucket }) => {
    const window = during(at);
    return !resets.some((reset) => reset.bucket === bucket && during(reset.at) === window);
  });
  return [
    ...silent.map(
      ({ at, bucket }) => `bucket ${bucket} was changed without a reset, in: ${during(at)?.fault}`,
    ),
    ...resets
      .filter(({ at }) => !during(at)?.loses)
      .map(({ at, bucket }) => `bucket ${bucket} was reset in: ${during(at)?.fault ?? 'no fault'}`),
  ];
}
