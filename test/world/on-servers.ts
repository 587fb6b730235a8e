/**
 * Scenarios with real processes: instances of the service on Redis servers of their own, clients that repeat what
 * fails, and a sequence of faults, with a recovery after each. At the end all promises of the pages are checked.
 */
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { patient } from '../support/patience';
import { isOnPath } from '../support/programs';
import { randomFrom } from '../support/random';
import { type PlantEntry, type StreamEntry, eventsOf } from '../support/stored-events';
import { until } from '../support/until';
import { type Check, PROMISES } from './checks/checks';
import { type FaultWindow, lostWrites, staleLists, windowsOfLosses, writtenTwice } from './checks/verdict';
import { type Faults, type Rig, type FaultStep, cli, scheduleOf } from './faults/faults';
import { resultOf, writeRuns } from './results/results';
import type { Cell, ScenarioOutcome, RunOptions, Scenario } from './scenario';
import { Network } from './topology/network';
import { ServiceInstance } from './topology/service-instance';
import { type Topology, type TopologyKind, entriesOf, settled, stop } from './topology/topology';
import {
  type Attempt,
  RetryingClients,
  type UserOperation,
  type ClientWork,
} from './workload/retrying-clients';
import { FeedFollower } from './workload/feed-follower';
import { keyOf } from '../support/keys';

/** What a scenario is composed of. */
export interface ScenarioParts {
  readonly topology: TopologyKind;
  readonly instances: number;
  readonly workload: ClientWork;
  /** Variables of the instances. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly faults: Faults;
  /** A program that must be on the PATH. */
  readonly needs?: string;
  /** Its place in the matrix of docs/reliability.md. */
  readonly cell?: Cell;
  /** In addition to those of {@link PROMISES}. */
  readonly checks?: readonly Check[];
  /** How many faults a test of the scenario has. 0: it runs only by its name. */
  readonly short: number;
}

/** On each primary of a new Cluster. */
const USERS = ['alice', 'bob', 'erin', 'heidi'];
/** A finding of a refused write lasts ten seconds, and one of an examination as long. */
const WRITES_WITHIN_MS = 25_000;
/** The last requests of the clients. */
const STOPS_WITHIN_MS = 5000;

export interface DoneStep extends FaultStep, FaultWindow {
  /** From the end of the fault until the servers were whole. */
  readonly repairedMs: number;
  /** From then until each instance had served each user. */
  readonly servedMs: number;
  /** The longest time without an acknowledged write, by user. */
  readonly outages: Readonly<Record<string, number>>;
  readonly times: Readonly<Record<string, number>>;
}

/** All that a run has recorded. */
export interface Run {
  readonly topology: Topology;
  readonly instances: readonly ServiceInstance[];
  readonly users: readonly string[];
  readonly attempts: readonly Attempt[];
  readonly operations: readonly UserOperation[];
  readonly steps: readonly DoneStep[];
  /** The events stored at the end, by user. */
  readonly streams: ReadonlyMap<string, readonly PlantEntry[]>;
  readonly exitCodes: readonly (number | null)[];
}

export interface ServersReport {
  readonly seed: number;
  readonly steps: readonly DoneStep[];
  readonly requests: number;
  readonly acknowledged: number;
  /** Acknowledged writes that a failover or a restore lost. */
  readonly lost: number;
  /** Those of users whose loss an instance reported. */
  readonly noticed: number;
  /** Lists without a write that was acknowledged before they were requested, and is not lost. */
  readonly staleLists: number;
  readonly writtenTwice: number;
  readonly violations: readonly string[];
  /** For a person who looks for the cause. */
  readonly history: unknown;
}

const EXCERPT = 1500;
const SHOWN = 10;

export function onServers(parts: ScenarioParts): Scenario {
  const { topology, needs, short, cell } = parts;
  return {
    short,
    ...(cell && { cell }),
    unavailable() {
      if (needs !== undefined && !isOnPath(needs)) return `no ${needs} is on the PATH`;
      return topology.hosts ? Network.unavailable() : undefined;
    },
    run: async (options) => new ServersOutcome(await play(parts, options)),
  };
}

class ServersOutcome implements ScenarioOutcome {
  readonly violations: readonly string[];

  constructor(private readonly report: ServersReport) {
    this.violations = report.violations;
  }

  get summary(): string {
    const { requests, acknowledged, lost, noticed, staleLists, steps } = this.report;
    return (
      `${steps.slice(-1).map(describeStep).join('')}\n${requests} requests, ${acknowledged} acknowledged writes, ` +
      `${lost} lost, ${noticed} of them noticed, ${staleLists} stale lists`
    );
  }

  get explanation(): string {
    const { seed, steps, violations, history } = this.report;
    const file = join(tmpdir(), `plant-store-world-${seed}.json`);
    writeFileSync(file, JSON.stringify(history, undefined, 1));
    const schedule = steps.map(
      ({ fault, from, to, lastsMs, roll }) =>
        `  ${Math.round(from)}–${Math.round(to)} ms: ${fault} (${Math.round(lastsMs)} ms, ${roll.toFixed(3)})`,
    );
    const shown = violations.slice(0, SHOWN).map((violation) => `- ${violation.slice(0, EXCERPT)}`);
    return [...shown, 'the faults:', ...schedule, `the whole history: ${file}`].join('\n');
  }

  write(name: string, earlier: readonly ServersOutcome[], conditions: string): void {
    const reports = [...earlier, this].map(({ report }) => report);
    writeRuns({ [name]: resultOf(reports, conditions) });
  }
}

function describeStep({ fault, repairedMs, servedMs, outages, times }: DoneStep): string {
  const outage = Math.max(...Object.values(outages));
  const measured = { ...times, outage, 'whole again': repairedMs, 'served once whole': servedMs };
  const texts = Object.entries(measured).map(([name, ms]) => `${name} ${(ms / 1000).toFixed(1)} s`);
  return `${fault}: ${texts.join(', ')}`;
}

async function play(parts: ScenarioParts, { seed, continues, progress }: RunOptions): Promise<ServersReport> {
  const random = randomFrom(seed);
  const topology = await parts.topology.start(random);
  const { network } = topology;
  const instances = await Promise.all(
    Array.from({ length: parts.instances }, () =>
      ServiceInstance.start({ ...topology.environment, ...parts.environment }, USERS, network?.host()),
    ),
  );
  const clients = new RetryingClients(instances, parts.workload(instances, USERS), seed);
  // It runs on this machine.
  const follower = network ? undefined : new FeedFollower(topology.environment, USERS);
  const schedule = scheduleOf(parts.faults, random);
  const steps: DoneStep[] = [];
  const violations: string[] = [];
  let probes = 0;

  const served = async (by = instances) => {
    const all = by.flatMap((instance) =>
      USERS.map((user) => clients.createAndDelete(user, instance, 900_000_000 + probes++)),
    );
    await Promise.all(all);
  };
  const archived = new Map<string, StreamEntry[]>();
  const rig: Rig = { topology, instances, users: USERS, archived, served };
  const inject = async (step: FaultStep, from: number) => {
    const epoch = await topology.epoch();
    await pause(step.pauseMs);
    const effect = (await parts.faults[step.fault]!(rig, step)) ?? {};
    const ended = performance.now();
    await settled(topology);
    const repaired = performance.now();
    await served();
    const servedMs = performance.now() - repaired;
    await until(() => instances.every(({ probes }) => probes.at(-1)?.writes), patient(WRITES_WITHIN_MS));
    const failovers = (await topology.epoch()) - epoch;
    const failoverLoses = topology.waitReplicas === 0 && failovers > (effect.plannedFailovers ?? 0);
    const to = performance.now();
    steps.push({
      ...step,
      from,
      to,
      switched: failovers > 0 || effect.losesSince !== undefined,
      restored: effect.restored ?? false,
      losesSince: failoverLoses ? from : effect.losesSince,
      repairedMs: repaired - ended,
      servedMs,
      outages: Object.fromEntries(
        USERS.map((user) => [user, longestGap(operationsOf(user, clients.operations), from, to)]),
      ),
      times: effect.times ?? {},
    });
    if (effect.violation !== undefined) violations.push(`${step.fault}: ${effect.violation}`);
  };

  try {
    await settled(topology);
    await served();
    do {
      const step = schedule.next().value;
      const done = steps.slice(-1).map((last) => `${describeStep(last)}; `);
      progress?.(`${done.join('')}next: ${step.fault}`);
      await inject(step, performance.now()).catch((error: unknown) => {
        throw new Error(`${step.fault}: ${String(error)}`, { cause: error });
      });
    } while (continues(steps.length));
    if (!(await clients.stop(patient(STOPS_WITHIN_MS))))
      violations.push('a client was not served after the last fault');
    await settled(topology);
    await cli(topology, ['events', 'verify']);
    await follower?.stop(patient(STOPS_WITHIN_MS));
  } catch (error) {
    violations.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
    await clients.stop(0).catch(() => {});
    await follower?.stop(0).catch(() => {});
  }
  network?.heal();
  const exitCodes = await Promise.all(instances.map((instance) => instance.stop()));
  const streams = new Map<string, readonly PlantEntry[]>();
  for (const user of USERS) {
    const key = keyOf(user);
    const entries = [...(archived.get(key) ?? []), ...(await entriesOf(topology, key))];
    streams.set(user, eventsOf(key, entries));
    violations.push(...(follower?.problems(user, entries) ?? []));
  }
  violations.push(...(follower?.falseResets(steps) ?? []));
  await stop(topology);

  const { attempts, operations } = clients;
  const run: Run = { topology, instances, users: USERS, attempts, operations, steps, streams, exitCodes };
  for (const check of [...PROMISES, ...(parts.checks ?? [])]) violations.push(...check(run));
  const losses = instances.flatMap((instance) => instance.losses);
  const ofUsers = USERS.map((user) => {
    const lost = lostWrites(operationsOf(user, operations), streams.get(user)!);
    return { lost, noticed: windowsOfLosses(user, losses, steps).length > 0 ? lost : 0 };
  });
  return {
    seed,
    steps,
    requests: attempts.length,
    acknowledged: operations.filter(({ acknowledged }) => acknowledged).length,
    lost: sum(ofUsers.map(({ lost }) => lost)),
    noticed: sum(ofUsers.map(({ noticed }) => noticed)),
    staleLists: staleLists(attempts, operations, streams).length,
    writtenTwice: sum([...streams.values()].map(writtenTwice)),
    violations,
    history: { steps, losses, operations, streams: Object.fromEntries(streams) },
  };
}

export function operationsOf(user: string, operations: readonly UserOperation[]): UserOperation[] {
  return operations.filter((operation) => operation.user === user);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function longestGap(operations: readonly UserOperation[], from: number, to: number): number {
  const times = operations
    .filter(({ acknowledged, answered }) => acknowledged && answered >= from && answered <= to)
    .map(({ answered }) => answered)
    .sort((a, b) => a - b);
  return Math.max(...[...times, to].map((time, index) => time - (times[index - 1] ?? from)));
}
