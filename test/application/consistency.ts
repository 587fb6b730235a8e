import type { RecordedEvent } from '../../src/application';
import { type SequentialModel, isLinearizable } from '../support/linearizability';
import type { Outcome, Wish } from './asking';
import { type Attempt, type Life, TIMEOUT_MS } from './life';

type Garden = readonly { readonly id: number; readonly name: string }[];

/** One user's plants as one careful clerk would keep them: the contract once more, in words of its own. */
export const GARDEN: SequentialModel<Garden, Wish, Outcome> = {
  initial: [],
  step(garden, wish) {
    if (wish.type === 'list') return { state: garden, output: garden.map(({ name }) => name) };
    const others = garden.filter(({ id }) => id !== wish.id);
    const lives = others.length < garden.length;
    if (wish.type === 'create') {
      return lives
        ? { state: garden, output: 'id-taken' }
        : { state: [...garden, { id: wish.id, name: wish.name }], output: 'created' };
    }
    return { state: others, output: lives ? 'deleted' : 'no-such-plant' };
  },
};

const REJECTIONS = ['id-taken', 'no-such-plant'];
const ACKNOWLEDGED = ['created', 'deleted'];
/** Answers that say for sure: nothing happened. The second one is a bug of the store, passed on. */
const NOTHING_HAPPENED = ['StoreUnavailable', 'TypeError'];

/** Every promise to clients that was broken in a life of the service, in words; the fewer, the better. */
export function brokenPromises({ attempts, histories }: Life): string[] {
  return [...histories].flatMap(([user, history]) => {
    const own = attempts.filter((attempt) => attempt.user === user);
    return [
      ...unpromisedAnswers(own),
      ...misrecorded(own, history),
      ...(oneHeadOneList(own) ? [] : ['two lists under one head']),
      ...(isLinearizable(GARDEN, own.flatMap(asOperation)) ? [] : ['not linearizable']),
    ].map((broken) => `${user}: ${broken}`);
  });
}

/** Whatever happens: an answer of the kind that was asked for, in time. */
export function unpromisedAnswers(attempts: readonly Attempt[]): string[] {
  return attempts
    .filter((attempt) => attempt.tookMs > TIMEOUT_MS || !isPromised(attempt))
    .map(
      ({ wish, outcome, tookMs }) =>
        `${wish.type} was answered ${JSON.stringify(outcome)} after ${tookMs} ms`,
    );
}

function isPromised({ wish, outcome }: Attempt): boolean {
  if (typeof outcome !== 'string') return wish.type === 'list';
  if (wish.type === 'list') return NOTHING_HAPPENED.includes(outcome);
  return [...ACKNOWLEDGED, ...REJECTIONS, ...NOTHING_HAPPENED, 'OutcomeUnknown'].includes(outcome);
}

/** What happened for sure, or perhaps. What did not happen must have left no trace. */
function asOperation({ wish, asked, answered, outcome }: Attempt) {
  if (typeof outcome === 'string' && NOTHING_HAPPENED.includes(outcome)) return [];
  return outcome === 'OutcomeUnknown'
    ? [{ input: wish, asked, answered: Infinity }]
    : [{ input: wish, asked, answered, output: outcome }];
}

/** Each acknowledged change is recorded once, each unknown one at most once, and no other at all. */
function misrecorded(own: readonly Attempt[], history: readonly RecordedEvent[]): string[] {
  const recorded = history.map(({ event }) =>
    event.type === 'PlantCreated' ? `+${event.name}` : `-${event.id}`,
  );
  const changes = (outcomes: readonly Outcome[]) =>
    own.flatMap(({ wish, outcome }) => {
      if (wish.type === 'list' || !outcomes.includes(outcome)) return [];
      return wish.type === 'create' ? `+${wish.name}` : `-${wish.id}`;
    });
  const sure = changes(ACKNOWLEDGED);
  const perhaps = changes(['OutcomeUnknown']);

  return [...new Set([...recorded, ...sure])].flatMap((change) => {
    const times = count(recorded, change);
    const atLeast = count(sure, change);
    const atMost = atLeast + count(perhaps, change);
    return times >= atLeast && times <= atMost
      ? []
      : `${change} is recorded ${times} times, not ${atLeast}–${atMost}`;
  });
}

function count(changes: readonly string[], change: string): number {
  return changes.filter((other) => other === change).length;
}

/** A head names one list; this is what makes it an entity tag. */
function oneHeadOneList(own: readonly Attempt[]): boolean {
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
