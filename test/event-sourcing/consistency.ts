import type { PlantEvent } from '../../src/domain';
import type { RecordedEvent } from '../../src/event-sourcing';
import { type Operation, linearizationProblem } from '../support/linearizability';
import { type SimulatedRequest, type SimulationResult, TIMEOUT_MS } from './simulation';

const REJECTIONS = ['id-taken', 'no-such-plant'];
const ACKNOWLEDGED = ['created', 'deleted'];
/** Errors after which nothing was written. The second one is a bug of the store that is passed on. */
const NOTHING_WRITTEN = ['StoreUnavailable', 'TypeError'];

/** Describes every violated guarantee of a simulation; empty if there is none. */
export function findViolations({ requests, histories }: SimulationResult): string[] {
  return [...histories].flatMap(([user, history]) => {
    const own = requests.filter((request) => request.user === user);
    return [
      ...invalidAnswers(own),
      ...(headsIdentifyLists(own) ? [] : ['two different lists with the same head']),
      ...linearizabilityViolations(own, history),
    ].map((broken) => `${user}: ${broken}`);
  });
}

/** Answers that are late, or not allowed for their request. */
export function invalidAnswers(requests: readonly SimulatedRequest[]): string[] {
  return requests
    .filter((request) => request.tookMs > TIMEOUT_MS || !isAllowed(request))
    .map(
      ({ request, outcome, tookMs }) =>
        `${request.type} was answered ${JSON.stringify(outcome)} after ${tookMs} ms`,
    );
}

function isAllowed({ request, outcome }: SimulatedRequest): boolean {
  if (typeof outcome !== 'string') return request.type === 'list';
  if (request.type === 'list') return NOTHING_WRITTEN.includes(outcome);
  return [...ACKNOWLEDGED, ...REJECTIONS, ...NOTHING_WRITTEN, 'OutcomeUnknown'].includes(outcome);
}

/** Checks linearizability: acknowledged changes are recorded once, unknown ones at most once, no others. */
function linearizabilityViolations(
  own: readonly SimulatedRequest[],
  history: readonly RecordedEvent<PlantEvent>[],
): string[] {
  const events = history.map(({ event }) => event);
  const problem = linearizationProblem(own.flatMap(toOperations), events);
  return problem === undefined ? [] : [problem];
}

/** Empty for a request that wrote nothing: it must have no effect. */
function toOperations({ request, asked, answered, outcome }: SimulatedRequest): Operation[] {
  if (typeof outcome === 'string' && NOTHING_WRITTEN.includes(outcome)) return [];
  return [{ request, asked, answered, answer: outcome === 'OutcomeUnknown' ? 'unknown' : outcome }];
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
