import { isDeepStrictEqual } from 'node:util';
import { ImpossibleHistory, type PlantEvent, PlantList } from '../../../src/domain';
import { type RecordedEvent, partsOf } from '../../../src/event-sourcing';
import type { RequestOutcome } from '../../support/pending-request';
import { type ClientOperation, linearizationProblem } from '../../support/linearizability';
import { ACKNOWLEDGED, WRITES, nameIn, requestOf } from '../../support/plant-requests';
import type { SimulatedRequest } from './simulated-request';
import type { TakenEvents } from './simulated-subscriber';
import type { SimulationResult } from './simulation';
import type { Timeline } from './timeline';

const REJECTIONS = Object.values(WRITES).map(({ rejected }): string => rejected);
/**
 * Errors after which nothing was written. The second one is a bug of the store that is passed on. The third one is the
 * answer if a failover loses a base between two reads of a load.
 */
const NOTHING_WRITTEN = ['StoreUnavailable', 'TypeError', 'UnreadableHistory'];
/** The write may have been recorded, or may still be. */
const UNKNOWN = ['OutcomeUnknown', 'died'];

type ClientHistory = readonly RecordedEvent<PlantEvent>[];

/** Describes every violated guarantee of a simulation; empty if there is none. */
export function findViolations(result: SimulationResult): string[] {
  const { requests, histories, problems, subscribers } = result;
  const ofUsers = [...histories].flatMap(([user, history]) => {
    const own = requests.filter((request) => request.user === user);
    const lists = result.lists.filter((request) => request.user === user);
    const lost = result.lost.get(user) ?? [];
    return [
      ...invalidAnswers(own, result.mayBeUnreadable),
      ...staleAnswers(own, result.timelines.get(user)!),
      ...(headsIdentifyLists(own) ? [] : ['two different lists with the same head']),
      ...(lost.length === 0 ? linearizabilityViolations(own, history) : []),
      ...recordedTwice(history),
      ...lostAcknowledgements(own, history, result.mayLose ? lost : []),
      ...writtenAfterAll(own, history),
      ...wrongLists(lists, history),
      ...subscribers
        .filter(({ stream }) => partsOf(stream).id === user)
        .flatMap((subscriber) => wronglyTaken(subscriber.taken, history, lost)),
    ].map((broken) => `${user}: ${broken}`);
  });
  return [...ofUsers, ...problems];
}

/** Answers that are late, or not allowed for their request. */
function invalidAnswers(requests: readonly SimulatedRequest[], mayBeUnreadable: boolean): string[] {
  return requests
    .filter(
      (request) =>
        !isAllowed(request) ||
        (request.outcome === 'UnreadableHistory' && !mayBeUnreadable) ||
        (request.outcome !== 'died' && request.tookMs > request.timeoutMs),
    )
    .map(
      ({ request, outcome, tookMs }) =>
        `${request.type} was answered ${JSON.stringify(outcome)} after ${tookMs} ms`,
    );
}

/** Lists and rejections that were not true at any moment between the request and its answer. */
function staleAnswers(own: readonly SimulatedRequest[], timeline: Timeline): string[] {
  return own
    .filter((request) => {
      const { request: asked, outcome, head } = request;
      if (asked.type === 'list')
        return (
          head !== undefined &&
          !timeline.some(request, (names) => [...names.values()].join() === String(outcome), head)
        );
      if (typeof outcome !== 'string' || !REJECTIONS.includes(outcome)) return false;
      const { onLiving } = WRITES[asked.type];
      return !timeline.some(request, (names) => names.has(String(asked.id)) !== onLiving);
    })
    .map(
      ({ request, outcome }) =>
        `${request.type} was answered ${JSON.stringify(outcome)}, which was not true meanwhile`,
    );
}

function isAllowed({ request, outcome }: SimulatedRequest): boolean {
  if (typeof outcome !== 'string') return request.type === 'list';
  if (request.type === 'list') return [...NOTHING_WRITTEN, 'died'].includes(outcome);
  return [...ACKNOWLEDGED, ...REJECTIONS, ...NOTHING_WRITTEN, ...UNKNOWN].includes(outcome);
}

/** Checks linearizability: acknowledged changes are recorded once, unknown ones at most once, no others. */
function linearizabilityViolations(own: readonly SimulatedRequest[], history: ClientHistory): string[] {
  const events = history.map(({ event }) => ({ type: event.type, id: event.id, name: nameIn(event) }));
  const problem = linearizationProblem([...pastOperations(history), ...own.flatMap(toOperations)], events);
  return problem === undefined ? [] : [problem];
}

/** The requests that recorded the events before the simulation. */
function pastOperations(history: ClientHistory): ClientOperation[] {
  return history
    .filter(({ commit }) => commit.startsWith('past-'))
    .map(({ version, event }): ClientOperation => {
      const times = { asked: version - 1e6, answered: version - 1e6 + 0.5 };
      const request = requestOf(event);
      return { request, answer: WRITES[request.type].acknowledged, ...times };
    });
}

/** Empty for a request that wrote nothing: it must have no effect. */
function toOperations({ request, asked, answered, outcome }: SimulatedRequest): ClientOperation[] {
  if (typeof outcome === 'string' && NOTHING_WRITTEN.includes(outcome)) return [];
  if (outcome === 'died' && request.type === 'list') return [];
  const isUnknown = typeof outcome === 'string' && UNKNOWN.includes(outcome);
  return [{ request, asked, answered, answer: isUnknown ? 'unknown' : outcome }];
}

function namesOf(history: ClientHistory): string[] {
  return history.flatMap(({ event }) => nameIn(event) ?? []);
}

function recordedTwice(history: ClientHistory): string[] {
  const names = namesOf(history);
  return names
    .filter((name, index) => names.indexOf(name) !== index)
    .map((name) => `${name} was recorded twice`);
}

/** Acknowledged plants that are neither recorded nor among the events that the schedule lost. */
function lostAcknowledgements(
  own: readonly SimulatedRequest[],
  history: ClientHistory,
  lost: ClientHistory,
): string[] {
  const recorded = new Set(namesOf([...history, ...lost]));
  return namesWith(own, (outcome) => ACKNOWLEDGED.includes(outcome))
    .filter((name) => !recorded.has(name))
    .map((name) => `${name} was acknowledged and is not recorded`);
}

/** Recorded plants of which the client learned that nothing was written and nothing will be. */
function writtenAfterAll(own: readonly SimulatedRequest[], history: ClientHistory): string[] {
  const names = new Set(namesOf(history));
  return namesWith(own, (outcome) => [...NOTHING_WRITTEN, ...REJECTIONS].includes(outcome))
    .filter((name) => names.has(name))
    .map((name) => `${name} was recorded although nothing was to be written`);
}

function namesWith(own: readonly SimulatedRequest[], matches: (outcome: string) => boolean): string[] {
  return own.flatMap(({ request, outcome }) =>
    'name' in request && typeof outcome === 'string' && matches(outcome) ? [request.name] : [],
  );
}

/** Lists at the end that do not show the recorded events. */
function wrongLists(lists: readonly SimulatedRequest[], history: ClientHistory): string[] {
  const names = listedNames(history);
  return lists
    .filter(({ outcome }) => JSON.stringify(outcome) !== JSON.stringify(names))
    .map(({ outcome }) => `the list at the end is ${JSON.stringify(outcome)}, not ${JSON.stringify(names)}`);
}

/** Events that a subscriber must have taken instead of others. What it took before it started over may be lost. */
function wronglyTaken(taken: readonly TakenEvents[], history: ClientHistory, lost: ClientHistory): string[] {
  return taken
    .filter(({ after: { version }, events }, index) => {
      const isLast = index === taken.length - 1;
      const possible = isLast ? history.slice(version, version + events.length) : [...history, ...lost];
      return !events.every((event, nth) =>
        isLast
          ? isDeepStrictEqual(event, possible[nth])
          : event.version === version + nth + 1 && possible.some((known) => isDeepStrictEqual(event, known)),
      );
    })
    .map(
      ({ after, events }) =>
        `a subscriber took versions ${events.map(({ version }) => version).join(', ')} after ${after.version}, and some are not those of the history`,
    );
}

/** The names of the living plants; `impossible` if the rules cannot have led to this history. */
function listedNames(history: ClientHistory): RequestOutcome {
  try {
    const list = PlantList.from(history.map(({ event }) => event));
    return list.page().plants.map(({ name }) => name);
  } catch (error) {
    if (!(error instanceof ImpossibleHistory)) throw error;
    return 'impossible';
  }
}

/** Whether each head identifies one list, as an entity tag must. */
function headsIdentifyLists(own: readonly SimulatedRequest[]): boolean {
  const lists = new Map<string, string>();
  return own.every(({ head, outcome }) => {
    if (head === undefined) return true;
    const name = `${head.version} ${head.commit}`;
    const list = JSON.stringify(outcome);
    const known = lists.get(name) ?? list;
    lists.set(name, known);
    return known === list;
  });
}
