import { type PlantRequest, WRITES, nameGiven } from './plant-requests';

/**
 * The linearizability oracle: decides whether the responses to concurrent clients of
 * one user can have come from one copy of the plants that serves one
 * request at a time, each at a moment between its start and its end (Herlihy
 * and Wing, 1990), and that recorded exactly these events.
 *
 * The stream gives the order of the writes, so no search is needed. At each
 * version every request in flight whose response is true there is served: that
 * changes nothing for the others. If there is none, the next event is assigned
 * to the request that can have caused it and ends first: any other choice
 * could be exchanged for this one. So the oracle finds an order if there is one.
 */
export interface ClientOperation {
  readonly request: PlantRequest;
  /** Start and end, on one clock for all clients. */
  readonly asked: number;
  readonly answered: number;
  /**
   * `created`, `deleted`, `id-taken`, `no-such-plant` or the names of a list; `unknown` if the request may have
   * taken effect at any time since its start, may still do so, or never will. Any other response is never true.
   * A request that certainly changed nothing is omitted.
   */
  readonly answer: string | readonly string[];
}

/** An event of the stream; its version is its place, from 1. */
export interface StreamEvent {
  readonly type: string;
  readonly id: number | string;
  readonly name?: string | undefined;
}

/** Why there is no such order: the version up to which there is one, and what cannot follow. `undefined` if there is one. */
export function linearizationProblem(
  operations: readonly ClientOperation[],
  stream: readonly StreamEvent[],
): string | undefined {
  const waiting = operations.toSorted((a, b) => a.asked - b.asked).values();
  let next = waiting.next();
  const inFlight = new Set<ClientOperation>();
  const plants = new Map<number, string>();

  for (let version = 0; ;) {
    // A request that started after the response to another one comes after it.
    let firstAnswer = firstAnswerOf(inFlight);
    for (; next.value !== undefined && next.value.asked <= firstAnswer; next = waiting.next()) {
      inFlight.add(next.value);
      if (isOwed(next.value)) firstAnswer = Math.min(firstAnswer, next.value.answered);
    }
    const names = [...plants.values()].join();
    const served = [...inFlight].filter((operation) => isTrue(operation, plants, names));
    for (const operation of served) inFlight.delete(operation);
    if (served.length > 0) continue;

    const event = stream[version];
    if (event === undefined) {
      const owed = [...inFlight].filter(isOwed);
      return owed.length === 0
        ? undefined
        : `at version ${version}, the last, no answer is true of ${shown(owed)}`;
    }
    const cause = causeOf(event, [...inFlight], plants);
    if (cause === undefined)
      return `after version ${version} nothing can have caused ${JSON.stringify(event)}; in flight: ${shown(inFlight)}`;
    inFlight.delete(cause);
    const name = nameGiven(cause.request);
    if (name === undefined) plants.delete(Number(event.id));
    else plants.set(Number(event.id), name);
    version++;
  }
}

function isOwed({ answer }: ClientOperation): boolean {
  return answer !== 'unknown';
}

function firstAnswerOf(operations: Iterable<ClientOperation>): number {
  return Math.min(...[...operations].filter(isOwed).map(({ answered }) => answered));
}

/** Whether the response follows from this state without changing it. */
function isTrue(
  { request, answer }: ClientOperation,
  plants: ReadonlyMap<number, string>,
  names: string,
): boolean {
  if (request.type === 'list') return Array.isArray(answer) && answer.join() === names;
  const { rejected, onLiving } = WRITES[request.type];
  return answer === rejected && plants.has(request.id) !== onLiving;
}

/** Of the requests that can have caused this event in this state, the one that ends first. */
function causeOf(
  event: StreamEvent,
  inFlight: readonly ClientOperation[],
  plants: ReadonlyMap<number, string>,
): ClientOperation | undefined {
  return inFlight
    .filter(({ request, answer }) => {
      if (request.type === 'list' || request.id !== Number(event.id)) return false;
      const rule = WRITES[request.type];
      return (
        event.type === rule.event &&
        event.name === rule.nameAfter(request) &&
        plants.has(request.id) === rule.onLiving &&
        (answer === rule.acknowledged || answer === 'unknown')
      );
    })
    .sort((a, b) => endOf(a) - endOf(b))[0];
}

function endOf(operation: ClientOperation): number {
  return isOwed(operation) ? operation.answered : Infinity;
}

function shown(operations: Iterable<ClientOperation>): string {
  return JSON.stringify([...operations]);
}
