import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { patient, unhurried } from '../../support/patience';
import { type Run, operationsOf } from '../on-servers';
import {
  falseReadiness,
  falseReports,
  historyProblem,
  lateResponses,
  staleLists,
  windowsOfLosses,
} from './verdict';

/** Returns the violations of a promise. */
export type Check = (run: Run) => string[];

/** A client is served this long after Redis has recovered: two seconds, and a Retry-After of up to two. */
const SERVED_WITHIN_MS = 5000;
const SHOWN = 5;
/** From the kill of a primary, with a Sentinel lost as well; see docs/operations.md. */
export const SERVED_MS = 10_000;
/** Less than a failover takes. */
const QUICKLY_MS = 1000;

const lossesOf = ({ instances }: Run) => instances.flatMap((instance) => instance.losses);

/** Each user's history is linearizable, has all that was acknowledged, nothing twice, and nothing that got 50300. */
const linearizable: Check = (run) =>
  run.users.flatMap((user) => {
    const windows = windowsOfLosses(user, lossesOf(run), run.steps);
    const problem = historyProblem(operationsOf(user, run.operations), run.streams.get(user)!, windows);
    return problem === undefined ? [] : [`the history of ${user}: ${problem}`];
  });

const noStaleLists: Check = ({ attempts, operations, streams, instances }) => {
  const stale = staleLists(attempts, operations, streams);
  return instances.flatMap((instance, index) => {
    const own = stale
      .filter(({ list }) => list.instance === instance)
      .sort((a, b) => a.list.asked - b.list.asked);
    if (own.length === 0) return [];
    const [from, to] = [own[0]!.list.asked, own.at(-1)!.list.asked];
    const lists = attempts.filter(
      ({ request, asked, instance: at }) =>
        at === instance && request.type === 'list' && asked >= from && asked <= to,
    );
    const answered = lists.filter(({ response }) => typeof response === 'object' && response.status === 200);
    const shown = own
      .slice(0, SHOWN)
      .map(({ list, missing }) => `the one at ${Math.round(list.asked)} ms lacks ${missing}`);
    return [
      `${own.length} lists of instance ${index + 1} lack an acknowledged write, of ${answered.length} answered and ` +
        `${lists.length - answered.length} refused in ${Math.round(to - from)} ms: ${shown.join('; ')}`,
    ];
  });
};

const served: Check = ({ steps }) =>
  steps
    .filter(({ servedMs }) => servedMs > patient(SERVED_WITHIN_MS))
    .map(({ fault, servedMs }) => `${fault}: all users were served only after ${Math.round(servedMs)} ms`);

const exited: Check = ({ exitCodes }) =>
  exitCodes.some((code) => code !== 0) ? [`the instances ended with the exit codes ${exitCodes.join()}`] : [];

/** No process is left that this one has started, or that works in a directory of a server. */
const nothingLeft: Check = ({ topology }) => {
  const directories = [...topology.nodes, ...topology.sentinels].map(({ directory }) => directory);
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const [, parent] = /\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))!;
        const directory = readlinkSync(`/proc/${pid}/cwd`);
        const isLeft =
          Number(parent) === process.pid || directories.some((each) => directory.startsWith(each));
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
        return isLeft ? [`the process ${pid} is left: ${command}`] : [];
      } catch {
        // It has just ended.
        return [];
      }
    });
};

/** Of every scenario. */
export const PROMISES: readonly Check[] = [
  linearizable,
  noStaleLists,
  served,
  exited,
  nothingLeft,
  (run) => falseReports(lossesOf(run), run.steps),
  ({ attempts }) => lateResponses(attempts),
  ({ instances, attempts }) => instances.flatMap((instance) => falseReadiness(instance, attempts)),
];

/** The time of this name, in each step that has it. */
export function within(name: string, limitMs: number): Check {
  return ({ steps }) =>
    steps
      .filter(({ times }) => name in times && times[name]! > bound(limitMs))
      .map(({ fault, times }) => `${fault}: "${name}" took ${shown(times[name]!)}, not ${limitMs} ms`);
}

/**
 * Served within this time of the kill. If the Sentinels elect a leader only at the second attempt, which is later,
 * within a second of the promotion, and within the time of the page in any case.
 */
export function servedAfterKill(limitMs: number): Check {
  return ({ steps }) =>
    steps
      .filter(
        ({ times: { served = 0, promoted = 0 } }) =>
          served > bound(Math.max(limitMs, Math.min(promoted + 1000, SERVED_MS))),
      )
      .map(
        ({ fault, times: { served = 0, promoted = 0 } }) =>
          `${fault}: writes were acknowledged after ${shown(served)}, not ${limitMs} ms (promoted after ${shown(promoted)})`,
      );
}

/** While a replica replaces a primary, the users of the others are served. */
export const onlyItsUsersWait: Check = ({ steps }) =>
  steps
    .filter(({ outages }) => Math.min(...Object.values(outages)) > patient(QUICKLY_MS))
    .map(({ fault, outages }) => `${fault}: all users waited: ${JSON.stringify(outages)}`);

/** Mostly a time of waiting, so that the load of the machine adds little: up to two seconds. */
function bound(ms: number): number {
  return ms - 500 + unhurried(500);
}

function shown(ms: number): string {
  return ms === Infinity ? 'too long' : `${Math.round(ms)} ms`;
}
