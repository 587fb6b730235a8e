import {
  type Clock,
  type Head,
  type Kind,
  OutcomeUnknown,
  StoreUnavailable,
  type StoredEvent,
  type StreamName,
  streamOf,
} from '../../src/event-sourcing';
import { check } from '../world/checker';
import {
  type Answer,
  type Loss,
  type Operation,
  type Plants,
  type Request,
  after,
  shown,
} from '../world/history';
import type { Instance } from './instance';
import type { Schedule } from './schedule';

export type Write = Exclude<Request, { readonly type: 'list' }>;

/**
 * The plants of the world as a kind of aggregate: its commands are requests, and its events those
 * that changed something.
 */
export const plantKind: Kind<Write, Write, 'taken' | 'none', Plants> = {
  category: 'plants',
  decider: {
    initialState: () => [],
    decide(write, plants) {
      const { answer } = after(plants, write);
      return answer === 'ok' ? { events: [write] } : { rejection: answer as 'taken' | 'none' };
    },
    evolve(plants, write) {
      const { plants: next, answer } = after(plants, write);
      if (answer !== 'ok') throw new Error(`${write.type} ${write.id} cannot have been recorded`);
      return next;
    },
  },
  codec: {
    encode: (write) => ({ type: write.type, data: JSON.stringify(write) }),
    decode: ({ data }) => JSON.parse(data) as Write,
  },
  // With a chunk for each plant.
  stateCodec: {
    format: 'plants',
    encode: (plants) => plants.map((plant) => JSON.stringify(plant)),
    decode: (plants, chunk) => [...plants, JSON.parse(chunk) as Plants[number]],
  },
};

export const nameOf = (user: string): StreamName => streamOf(plantKind.category, user);

export const userOf = (stream: string): string => stream.slice(plantKind.category.length + 1);

/** The deadline of each request, in ms on the clock of its process. */
export const TIMEOUT_MS = 200;
const MAX_PENDING = 5;

interface Sent extends Operation {
  /** When it was sent, and how many requests of its stream were pending then. */
  readonly sentAt: number;
  readonly pending: number;
  answered: number;
  answer: Answer;
  /** Empty while it is pending. */
  response: string;
}

/** What certainly remains after a loss: of the older writes, or of all that were acknowledged. */
export type Kept = 'none' | 'older' | 'acknowledged';

/** The requests of all clients, and what is known of the store when they are checked. */
export class Requests {
  readonly sent: Sent[] = [];
  /** What failovers and erasures may have lost, by user. */
  readonly losses = new Map<string, Loss[]>();
  /**
   * Users of whom an erasure met a request, or was undone by a failover: their responses do not
   * come from one copy.
   */
  readonly #unordered = new Set<string>();
  /** When each commit was recorded. */
  readonly #recordedAt = new Map<string, number>();
  /** The list at each head of a user. A second list at the same head would be a fault. */
  readonly #lists = new Map<string, string>();
  /** Logical, unique times. */
  #moment = 0;
  #names = 0;

  constructor(
    private readonly clock: Clock,
    private readonly schedule: Schedule,
    private readonly report: (problem: string) => void,
    private readonly note: (line: string) => void,
  ) {}

  recorded(commit: string): void {
    this.#recordedAt.set(commit, this.#moment + 0.5);
  }

  /** A stream was erased, or a failover lost its end. */
  lost(user: string, events: readonly Head[], kept: Kept, isBack: boolean): void {
    const isPending = this.sent.some((sent) => sent.user === user && sent.response === '');
    if (isBack || (kept === 'none' && isPending)) this.#unordered.add(user);
    const recorded = Math.min(...events.map(({ commit }) => this.#recordedAt.get(commit)!));
    const keeps = kept === 'acknowledged' ? Infinity : recorded;
    const loss: Loss = { asked: this.#moment + 0.5, keeps, isCertain: true };
    this.losses.set(user, [...(this.losses.get(user) ?? []), loss]);
  }

  /** Sends a request, with a unique name, so that a list shows which requests took effect. */
  send(instance: Instance, nth: number, user: string, nameless: Request): Sent | undefined {
    const stream = nameOf(user);
    const pending = instance.pending.get(stream) ?? 0;
    if (pending === MAX_PENDING) return undefined;
    const request =
      nameless.type === 'create' ? { ...nameless, name: `plant-${++this.#names}` } : nameless;
    const by = { user, client: user, instance: nth, request, sentAt: this.clock.now(), pending };
    const sent: Sent = {
      ...by,
      asked: ++this.#moment,
      answered: Infinity,
      answer: 'unknown',
      response: '',
    };
    this.sent.push(sent);
    this.note(`request ${sent.asked}: ${JSON.stringify(request)} of ${user} to instance ${nth}`);
    const answered = (answer: Answer, response: string, error?: Error) => {
      if (!instance.alive) return;
      instance.pending.set(stream, instance.pending.get(stream)! - 1);
      this.#answer(sent, answer, response);
      const wrong = this.#wrongAnswer(sent, instance, error);
      if (wrong !== undefined)
        this.report(`${request.type} of ${user} was answered ${response} ${wrong}`);
    };
    const failed = (error: Error) =>
      answered(error instanceof OutcomeUnknown ? 'unknown' : 'failed', error.name, error);
    instance.pending.set(stream, pending + 1);
    const { aggregates } = instance;
    const result =
      request.type === 'list'
        ? aggregates.query(plantKind, user, (plants, head) => this.#listed(user, plants, head))
        : aggregates.execute(plantKind, user, request).then(({ rejection }) => rejection ?? 'ok');
    result.then((answer) => answered(answer, 'served'), failed);
    return sent;
  }

  /** No request to this instance gets an answer any more. */
  instanceDied(nth: number): void {
    for (const sent of this.sent)
      if (sent.instance === nth && sent.response === '')
        this.#answer(sent, sent.request.type === 'list' ? 'failed' : 'unknown', 'died');
  }

  /** Checks the history of a user, the last lists, and that all responses are linearizable. */
  check(user: string, history: readonly StoredEvent[]): void {
    const writes = history.map((stored) => plantKind.codec.decode(stored)!);
    const names = writes.flatMap((write) => (write.type === 'create' ? write.name : []));
    if (new Set(names).size < names.length) this.report(`${user}: a plant was recorded twice`);
    const own = this.sent.filter((sent) => sent.user === user);
    const { initialState, evolve } = plantKind.decider;
    const plants = writes.reduce(evolve, initialState()).map(({ name }) => name);
    for (const { request, response, answer } of own.slice(-this.schedule.instances))
      if (request.type === 'list' && response === 'served' && String(answer) !== plants.join())
        this.report(`${user}: the last list is ${String(answer)}, not ${plants.join()}`);
    if (this.#unordered.has(user)) return;
    for (const { operations } of check(own, this.losses.get(user)).contradictions)
      this.report(['these responses contradict each other:', ...shown(operations)].join('\n    '));
  }

  #answer(sent: Sent, answer: Answer, response: string): void {
    Object.assign(sent, { answered: ++this.#moment, answer, response });
    this.note(`request ${sent.asked}: ${JSON.stringify(answer)} (${response})`);
  }

  /** The names of a list. Its head must identify it, as an entity tag. */
  #listed(user: string, plants: Plants, { version, commit }: Head): readonly string[] {
    const names = plants.map(({ name }) => name);
    const key = `${user} ${version} ${commit}`;
    const known = this.#lists.get(key) ?? names.join();
    this.#lists.set(key, known);
    if (known !== names.join()) this.report(`two different lists of ${user} with one head`);
    return names;
  }

  /** What is wrong with an answer if that alone tells; the checker compares it with the others. */
  #wrongAnswer(
    { request, sentAt, pending }: Sent,
    instance: Instance,
    error?: Error,
  ): string | undefined {
    const { maxWaiting } = this.schedule;
    const tookMs = this.clock.now() - sentAt;
    if (tookMs > TIMEOUT_MS) return `after ${tookMs} ms`;
    // A TypeError is a bug of the store.
    if (error === undefined || error instanceof TypeError)
      return pending < 2 * maxWaiting ? undefined : `although ${pending} were pending`;
    // A deletion cannot be told from another one of its plant, which may be or have been in doubt.
    const isInDoubt = request.type === 'delete' || instance.doubts.has(JSON.stringify(request));
    if (error instanceof OutcomeUnknown)
      return isInDoubt ? undefined : 'without an append in doubt';
    if (!(error instanceof StoreUnavailable)) return String(error);
    if (error.reason === 'waiting_requests')
      return pending > maxWaiting ? undefined : `although only ${pending} were pending`;
    // The fault may have come just before the request: a load that is between two of its pages
    // fails at the next page.
    const hasFailed =
      instance.failedAt >= sentAt || instance.unsettled > 0 || tookMs === TIMEOUT_MS;
    return hasFailed ? undefined : 'although no call to the store failed';
  }
}
