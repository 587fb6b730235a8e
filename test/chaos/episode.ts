/**
 * One episode of chaos: three instances of the service on Redis servers of their own, clients that repeat what fails,
 * and a sequence of faults, with a recovery after each. At the end all promises of the pages are checked.
 */
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { patient } from '../support/patience';
import { randomFrom } from '../support/random';
import { type StoredEvent, storedEvents } from '../support/stored-events';
import { until } from '../support/until';
import { RetryingClients } from './clients';
import { startCluster } from './cluster-topology';
import { type Rig, type Step, cli, faultsOf, scheduleOf } from './faults';
import { startSentinels } from './sentinel-topology';
import { ServiceInstance } from './service-instance';
import { type Topology, settled } from './topology';
import {
  type FaultWindow,
  falseReadiness,
  falseReports,
  historyProblem,
  lateResponses,
  lostWrites,
  windowsOfLosses,
} from './verdict';

/** On each primary of a new Cluster. */
const USERS = ['alice', 'bob', 'erin', 'heidi'];
/** A client is served this long after Redis has recovered: two seconds, and a Retry-After of up to two. */
export const SERVED_WITHIN_MS = 5000;
/** The state of writes may be ten seconds old. */
const WRITES_WITHIN_MS = 15_000;

export interface DoneStep extends Step, FaultWindow {
  /** From the end of the fault until the servers were whole. */
  readonly repairedMs: number;
  /** From then until each instance had served each user. */
  readonly servedMs: number;
}

export interface EpisodeReport {
  readonly seed: number;
  readonly topology: string;
  readonly steps: readonly DoneStep[];
  readonly requests: number;
  readonly acknowledged: number;
  /** Acknowledged writes that a failover or a restore lost, as the pages say. */
  readonly lost: number;
  readonly violations: readonly string[];
  /** For a person who looks for the cause. */
  readonly history: unknown;
}

export interface EpisodeOptions {
  readonly topology: Topology['name'];
  readonly seed: number;
  /** No fault but the first begins after this time, on the clock of `performance.now()`. */
  readonly endsAt: number;
  readonly progress: (steps: readonly DoneStep[], next: string) => void;
}

export async function runEpisode({
  topology: name,
  seed,
  endsAt,
  progress,
}: EpisodeOptions): Promise<EpisodeReport> {
  const random = randomFrom(seed);
  const waitReplicas = random() < 0.7 ? 2 : 0;
  const topology = await (name === 'sentinel' ? startSentinels(waitReplicas) : startCluster());
  const instances = await Promise.all(
    [1, 2, 3].map(() => ServiceInstance.start(topology.environment, USERS)),
  );
  const rig: Rig = { topology, instances, users: USERS };
  const schedule = scheduleOf(name, random);
  const clients = new RetryingClients(instances, USERS, seed);
  const steps: DoneStep[] = [];
  const violations: string[] = [];
  let probes = 0;

  /** Waits until each instance has served each user. Resolves with the time that took, in ms. */
  const allServed = async () => {
    const since = performance.now();
    const all = instances.flatMap((instance) =>
      USERS.map((user) => clients.createAndDelete(user, instance, 900_000_000 + probes++)),
    );
    await Promise.all(all);
    return performance.now() - since;
  };
  const inject = async (step: Step, from: number) => {
    const epoch = await topology.epoch();
    await pause(step.pauseMs);
    const effect = (await faultsOf(name)[step.fault]!(rig, step)) ?? {};
    const ended = performance.now();
    await settled(topology);
    const repairedMs = performance.now() - ended;
    const servedMs = await allServed();
    await until(() => instances.every(({ probes }) => probes.at(-1)?.writes), patient(WRITES_WITHIN_MS));
    const failovers = (await topology.epoch()) - epoch;
    const failoverLoses = topology.waitReplicas === 0 && failovers > (effect.plannedFailovers ?? 0);
    steps.push({
      ...step,
      from,
      to: performance.now(),
      switched: failovers > 0 || effect.losesSince !== undefined,
      losesSince: failoverLoses ? from : effect.losesSince,
      repairedMs,
      servedMs,
    });
    if (effect.violation !== undefined) violations.push(`${step.fault}: ${effect.violation}`);
    if (servedMs > patient(SERVED_WITHIN_MS))
      violations.push(`${step.fault}: all users were served only after ${Math.round(servedMs)} ms`);
  };

  try {
    await settled(topology);
    await allServed();
    do {
      const step = schedule.next().value;
      progress(steps, step.fault);
      await inject(step, performance.now()).catch((error: unknown) => {
        throw new Error(`${step.fault}: ${String(error)}`, { cause: error });
      });
    } while (performance.now() < endsAt);
    if (!(await clients.stop(patient(SERVED_WITHIN_MS))))
      violations.push('a client was not served after the last fault');
    await settled(topology);
    await cli(topology, 'events', 'verify');
  } catch (error) {
    violations.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
    await clients.stop(0).catch(() => {});
  }
  const codes = await Promise.all(instances.map((instance) => instance.stop()));
  if (codes.some((code) => code !== 0))
    violations.push(`the instances ended with the exit codes ${codes.join()}`);

  const losses = instances.flatMap((instance) => instance.losses);
  const streams = new Map<string, readonly StoredEvent[]>();
  let lost = 0;
  for (const user of USERS) {
    const operations = clients.operations.filter((operation) => operation.user === user);
    const events = await eventsOf(topology, user);
    streams.set(user, events);
    const problem = historyProblem(operations, events, windowsOfLosses(user, losses, steps));
    if (problem !== undefined) violations.push(`the history of ${user}: ${problem}`);
    lost += lostWrites(operations, events);
  }
  violations.push(...falseReports(losses, steps), ...lateResponses(clients.attempts));
  violations.push(...instances.flatMap((instance) => falseReadiness(instance, clients.attempts)));

  const programs = [...topology.sentinels, ...topology.nodes];
  await Promise.all(programs.map((program) => program.stop()));
  violations.push(...processesLeft(programs.map(({ directory }) => directory)));
  return {
    seed,
    topology: `${name}${waitReplicas > 0 && name === 'sentinel' ? `, REDIS_WAIT_REPLICAS=${waitReplicas}` : ''}`,
    steps,
    requests: clients.attempts.length,
    acknowledged: clients.operations.filter(({ acknowledged }) => acknowledged).length,
    lost,
    violations,
    history: { steps, losses, operations: clients.operations, streams: Object.fromEntries(streams) },
  };
}

async function eventsOf(topology: Topology, user: string): Promise<StoredEvent[]> {
  const key = `plant-store:{${user}}:events`;
  for (const primary of await topology.primaries()) {
    const entries = await primary.call('XRANGE', key, '-', '+').catch((error: unknown) => {
      if (String(error).includes('MOVED')) return undefined;
      throw error;
    });
    if (entries !== undefined)
      return storedEvents({ xrange: async () => entries as [string, string[]][] }, key);
  }
  throw new Error(`no primary has the stream of ${user}`);
}

/** Processes that this one has started, or that work in one of these directories. */
function processesLeft(directories: readonly string[]): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const [, parent] = /\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))!;
        const directory = readlinkSync(`/proc/${pid}/cwd`);
        const isLeft =
          Number(parent) === process.pid || directories.some((each) => directory.startsWith(each));
        return isLeft
          ? [
              `the process ${pid} is left: ${readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')}`,
            ]
          : [];
      } catch {
        // It has just ended.
        return [];
      }
    });
}
