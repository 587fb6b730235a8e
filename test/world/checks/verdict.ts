import { createHash } from 'node:crypto';
import { type StreamEvent, linearizationProblem } from '../../support/linearizability';
import { patient } from '../../support/patience';
import { ACKNOWLEDGED, eventOf, nameGiven, nameRemoved } from '../../support/plant-requests';
import type { Attempt, UserOperation } from '../workload/retrying-clients';
import {
  type Probe,
  type ReportedLoss,
  STORE_TIMEOUT_MS,
  type ServiceInstance,
} from '../topology/service-instance';

/** The time from the recovery of one fault to that of the next: a failover in it may have lost writes. */
export interface FaultWindow {
  readonly fault: string;
  readonly from: number;
  readonly to: number;
  /** Whether there was a failover or a restore. */
  readonly switched: boolean;
  /** As in the effect of the fault. */
  readonly restored?: boolean;
  /** Writes acknowledged after this time may be lost, as the pages say; `undefined` if none may. */
  readonly losesSince: number | undefined;
}

/** A request is answered this long after its time has expired, at most. */
const SETTLES_AFTER_MS = 1000;
/** Readiness may be this old: it is shared for a second, and a check takes as long as a request. */
const READINESS_MS = 1000 + STORE_TIMEOUT_MS + SETTLES_AFTER_MS;
/** Fewer requests or probes prove nothing. */
const ENOUGH = 5;
/** The answers to writes that took effect, or may have. */
const CHANGES: readonly unknown[] = [...ACKNOWLEDGED, 'unknown'];

/** The name that an acknowledged write gave a plant, and when it was answered. */
interface Given {
  readonly name: string;
  readonly since: number;
}

/**
 * Compares the operations of one user with the events that are stored after the last fault. They must be linearizable.
 * If an instance reported a loss of history in a window that may lose some, the reads in this window may have seen lost
 * events, and the writes that the pages do not protect may be lost.
 */
export function historyProblem(
  operations: readonly UserOperation[],
  events: readonly StreamEvent[],
  windows: readonly FaultWindow[],
): string | undefined {
  const strict = linearizationProblem(operations, events);
  if (strict === undefined || windows.length === 0) return strict;
  const relaxed = operations.flatMap((operation) => {
    const window = windows.find(({ from, to }) => operation.answered >= from && operation.asked <= to);
    if (window === undefined) return [operation];
    if (operation.acknowledged && operation.answered < (window.losesSince ?? Infinity)) return [operation];
    return CHANGES.includes(operation.answer) ? [{ ...operation, answer: 'unknown' }] : [];
  });
  return linearizationProblem(relaxed, events);
}

/** The acknowledged writes of one user that are not stored. Each name is given by one write only. */
export function lostWrites(operations: readonly UserOperation[], events: readonly StreamEvent[]): number {
  const names = new Map<number, string>();
  const stored = new Set<string>();
  for (const { type, id, name = names.get(Number(id)) ?? '' } of events) {
    names.set(Number(id), name);
    stored.add(`${type} ${name}`);
  }
  return operations.filter(({ acknowledged, request }) => {
    if (!acknowledged || request.type === 'list') return false;
    return !stored.has(`${eventOf(request).type} ${request.name ?? ''}`);
  }).length;
}

/** How many events that give a name are stored again. */
export function writtenTwice(events: readonly StreamEvent[]): number {
  const names = events.flatMap(({ name }) => name ?? []);
  return names.length - new Set(names).size;
}

/** The windows in which an instance reported that the history of this user was lost, or an operator knew it. */
export function windowsOfLosses(
  user: string,
  losses: readonly ReportedLoss[],
  windows: readonly FaultWindow[],
): readonly FaultWindow[] {
  const hash = createHash('sha256').update(user).digest('hex').slice(0, 12);
  const own = losses.filter((loss) => loss.user === hash);
  return windows.filter(
    ({ from, to, switched, restored }) =>
      switched && (restored || own.some(({ at }) => at >= from && at <= to)),
  );
}

/** The reports of losses at times when nothing can have been lost. */
export function falseReports(losses: readonly ReportedLoss[], windows: readonly FaultWindow[]): string[] {
  return losses
    .filter(({ at }) => !windows.some(({ from, to, switched }) => switched && at >= from && at <= to))
    .map(
      ({ at, user }) =>
        `at ${Math.round(at)} ms an instance reported a lost history of ${user}, without a failover or a restore`,
    );
}

/** Responses that came too late, and requests without a response although their instance was running. */
export function lateResponses(attempts: readonly Attempt[]): string[] {
  const limit = patient(STORE_TIMEOUT_MS + SETTLES_AFTER_MS);
  return attempts
    .filter(({ instance, asked, answered, response }) => {
      if (instance.wasInterrupted(asked, answered)) return false;
      return typeof response === 'string' || answered - asked > limit;
    })
    .map(({ request, asked, answered, response }) => {
      const outcome = typeof response === 'string' ? `no response (${response})` : String(response.status);
      return `${request.type} at ${Math.round(asked)} ms: ${outcome} after ${Math.round(answered - asked)} ms`;
    });
}

/** The times at which `/health/ready` had contradicted all requests to the instance for a while. */
export function falseReadiness(instance: ServiceInstance, attempts: readonly Attempt[]): string[] {
  const own = attempts.filter((attempt) => attempt.instance === instance);
  const span = patient(READINESS_MS);
  return instance.probes.flatMap(({ asked: at, answered }) => {
    if (instance.wasInterrupted(at - span, answered)) return [];
    const during = own.filter((attempt) => attempt.asked >= at - span && attempt.answered <= at);
    const probes = instance.probes.filter((probe) => probe.asked >= at - span && probe.asked <= at);
    const contradiction = contradictionOf(probes, during);
    return contradiction === undefined
      ? []
      : [`${instance.url}/health/ready was wrong at ${Math.round(at)} ms: ${contradiction}`];
  });
}

/** Readiness promises reads, and its body says whether it promises writes, too. */
function contradictionOf(probes: readonly Probe[], attempts: readonly Attempt[]): string | undefined {
  if (probes.length < ENOUGH || attempts.length < ENOUGH) return undefined;
  const lists = attempts.filter(({ request }) => request.type === 'list');
  const writes = attempts.filter(({ request }) => request.type !== 'list');
  if (haveFailed(lists) && probes.every(({ ready }) => ready))
    return `200, but all ${lists.length} lists failed`;
  if (haveFailed(writes) && probes.every((probe) => probe.writes))
    return `"writes":true, but all ${writes.length} writes failed`;
  if (attempts.every(isServed) && !probes.some(({ ready }) => ready))
    return `503, but all ${attempts.length} requests succeeded`;
  return undefined;
}

function haveFailed(attempts: readonly Attempt[]): boolean {
  return attempts.length >= ENOUGH && !attempts.some(isServed);
}

function isServed({ response }: Attempt): boolean {
  return typeof response === 'object' && response.status !== 503;
}

/**
 * The lists that lack a name whose write was acknowledged before they were requested and is still stored, and whose
 * removal no client had requested before they were answered.
 */
export function staleLists(
  attempts: readonly Attempt[],
  operations: readonly UserOperation[],
  streams: ReadonlyMap<string, readonly StreamEvent[]>,
): { readonly list: Attempt; readonly missing: string }[] {
  const removedAt = new Map<string, number>();
  for (const { request, asked } of attempts) {
    const name = nameRemoved(request);
    if (name !== undefined) removedAt.set(name, Math.min(asked, removedAt.get(name) ?? Infinity));
  }
  return [...streams].flatMap(([user, events]) => {
    const stored = new Set(events.map(({ name }) => name));
    const given = operations
      .filter((each) => each.user === user && each.acknowledged)
      .map(({ request, answered }) => ({ name: nameGiven(request), since: answered }))
      .filter((each): each is Given => each.name !== undefined && stored.has(each.name))
      .sort((a, b) => a.since - b.since)
      .values();
    const lists = attempts
      .filter((each) => each.user === user && each.request.type === 'list')
      .sort((a, b) => a.asked - b.asked);
    const present = new Set<string>();
    let next = given.next();
    return lists.flatMap((list) => {
      for (; next.value !== undefined && next.value.since < list.asked; next = given.next())
        present.add(next.value.name);
      for (const name of present) if ((removedAt.get(name) ?? Infinity) < list.asked) present.delete(name);
      if (typeof list.response === 'string' || list.response.status !== 200) return [];
      const names = new Set(list.response.names);
      const missing = [...present].find(
        (name) => !names.has(name) && (removedAt.get(name) ?? Infinity) > list.answered,
      );
      return missing === undefined ? [] : [{ list, missing }];
    });
  });
}
