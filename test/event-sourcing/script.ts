/**
 * Plays a script with one aggregate of counters, a store whose calls the script controls, and a clock.
 *
 *     a: +3            executes a command, or queries with `a: sum`; the request is `a` from then on
 *     a b              the outcomes of these requests: pending, ok, a rejection, a sum, or the name of an error
 *     head|error a     the head that it resolved with; the properties of its error
 *     calls            the calls that wait for the script: `append 2/<commit> as <commit> +3`, `read 0/`
 *     sent             all calls since the step before
 *     keep late        names the waiting call, for steps such as `answer late`; without a name, they mean the only one
 *     execute          the call reaches the store; its result does not reach the caller yet
 *     answer           it is executed, and its result returned
 *     lose|refuse|bug|unreadable|hang    it fails so, without being executed; with `hang` it never settles
 *     serve|hold       from now on calls are answered at once; or they wait again
 *     others +1 -1     another instance appends; `others <commit> +1`: with this commit
 *     lose-tail 2      a failover keeps only the first two events
 *     load             queries while the store answers: what is loaded
 *     begin            starts the rounds whose start was postponed: how many
 *     recorded|observed|bytes|evictable|pass <ms>|settle
 */
import { MemoryEventStore } from '../../src/adapters/memory';
import {
  type AggregateEvent,
  OutcomeUnknown,
  StoreUnavailable,
  UnreadableHistory,
} from '../../src/event-sourcing';
import { Aggregate, type Shared } from '../../src/event-sourcing/aggregate';
import { LoadQueue } from '../../src/event-sourcing/load-queue';
import { safely } from '../../src/event-sourcing/observe';
import { streamName } from '../../src/testing/a-stream';
import { ManualClock, untilIdle } from '../support/manual-clock';
import { PendingRequest } from '../support/pending-request';
import { ScriptedStore, type StoreCall } from '../support/scripted-store';
import { type Steps, listed, play } from './steps';
import { type Changed, changed, codec, counterKind } from './counter';

export const TIMEOUT_MS = 1000;

export interface ScriptOptions extends Partial<Shared> {
  readonly name?: string;
  /** Events in a page of the store. */
  readonly page?: number;
  readonly kind?: Partial<typeof counterKind>;
  /** Whether rounds start only at the step `begin`. */
  readonly postponed?: boolean;
}

const signed = (by: number) => (by > 0 ? `+${by}` : `${by}`);

export class Script {
  readonly clock = new ManualClock();
  readonly store: ScriptedStore<Changed>;
  readonly aggregate: Aggregate<number, Changed, 'too-low', number>;
  readonly #requests = new Map<string, PendingRequest<unknown>>();
  readonly #kept = new Map<string, StoreCall>();
  #observed: string[] = [];
  readonly #postponed: (() => void)[] = [];
  #commits = 0;

  readonly name: string;

  /** @param moreSteps by their word. */
  constructor(
    { name = 'ada', page = 1000, kind, postponed = false, ...shared }: ScriptOptions = {},
    private readonly moreSteps: Steps = {},
  ) {
    this.name = name;
    this.store = new ScriptedStore(codec, () => new MemoryEventStore(page));
    this.aggregate = new Aggregate(
      streamName(name),
      { ...counterKind, ...kind },
      {
        store: this.store,
        clock: this.clock,
        mintCommit: () => `mine-${++this.#commits}`,
        timeoutMs: TIMEOUT_MS,
        maxWaiting: 100,
        maxBytes: Infinity,
        commandBytes: { used: 0, max: Infinity },
        gather: (start) => (postponed ? this.#postponed.push(start) : start()),
        loads: new LoadQueue(this.clock, 2 * TIMEOUT_MS),
        makeRoom: () => true,
        snapshots: undefined,
        report: safely((event) => void this.#observed.push(...textOf(event))),
        ...shared,
      },
    );
  }

  play(script: string): Promise<void> {
    return play({ ...this.#steps, ...this.moreSteps }, script);
  }

  #ask(name: string, what: string): void {
    const answered =
      what === 'sum'
        ? this.aggregate.query((sum, head) => ({ sum, head }))
        : this.aggregate.execute(Number(what));
    this.#requests.set(
      name,
      new PendingRequest<unknown>(answered, (given) => {
        const { sum, rejection } = given as { sum?: number; rejection?: string };
        return rejection ?? (sum === undefined ? 'ok' : `${sum}`);
      }),
    );
  }

  #call(name?: string): StoreCall {
    return name === undefined ? this.store.sole : this.#kept.get(name)!;
  }

  readonly #steps: Steps = {
    '': ([word, ...more]) => {
      if (word.endsWith(':')) this.#ask(word.slice(0, -1), more[0]!);
      else return () => [word, ...more].map((name) => String(this.#requests.get(name)!.outcome)).join(', ');
    },
    head: ([name]) => {
      const { version, commit } = (
        this.#requests.get(name)!.answer as { head: { version: number; commit: string } }
      ).head;
      return `${version}/${commit}`;
    },
    error: ([name, ...of]) =>
      of.map((member) => String((this.#requests.get(name)!.error as Record<string, unknown>)[member])),
    calls: () =>
      listed(
        this.store.calls.map(({ request }) => describeCall(request)),
        ', ',
      ),
    sent: () =>
      listed(
        this.store.requests.splice(0).map(({ kind, after }) => `${kind} ${after.version}`),
        ', ',
      ),
    keep: ([name]) => this.#kept.set(name, this.store.sole),
    execute: ([name]) => this.#call(name).execute(),
    answer: ([name]) => this.#call(name).answer(),
    lose: ([name]) => this.#call(name).fail(new OutcomeUnknown('the connection broke')),
    refuse: () => this.#call().fail(new StoreUnavailable('the store refuses')),
    bug: () => this.#call().fail(new TypeError('a bug of the store')),
    unreadable: () => this.#call().fail(new UnreadableHistory('of a later version')),
    hang: () => this.#call().hang(),
    hold: () => void (this.store.held = true),
    serve: () => this.#serve(),
    others: ([first, ...more]) =>
      Number.isNaN(Number(first))
        ? this.store.recordCommit(this.name, first, ...more.map((by) => changed(Number(by))))
        : this.store.record(this.name, ...[first, ...more].map((by) => changed(Number(by)))),
    'lose-tail': ([version]) => this.store.loseTail(this.name, Number(version)),
    load: () => this.#load(),
    begin: () => this.#postponed.splice(0).map((start) => start()).length,
    recorded: async () =>
      listed(
        (await this.store.history(this.name)).map(({ event }) => signed(event.by)),
        ' ',
      ),
    observed: () => () => listed(this.#observed.splice(0), ', '),
    bytes: () => this.aggregate.bytes,
    evictable: () => this.aggregate.evictable,
    pass: ([ms]) => this.clock.pass(Number(ms)),
    settle: async () => {
      for (let turn = 0; turn < 50; turn++) await untilIdle();
    },
  };

  async #serve(): Promise<void> {
    this.store.held = false;
    for (const call of [...this.store.calls]) await call.answer();
  }

  async #load(): Promise<string> {
    await this.#serve();
    this.#ask('loaded', 'sum');
    await this.clock.pass(0);
    await this.#steps['settle']!(['']);
    this.store.held = true;
    return String(this.#requests.get('loaded')!.outcome);
  }
}

function describeCall({ kind, after, commit, events = [] }: StoreCall['request']): string {
  const changes = events.map((event) => signed(codec.decode(event)!.by));
  return [kind, `${after.version}/${after.commit}`, ...(commit ? ['as', commit] : []), ...changes].join(' ');
}

function textOf(event: AggregateEvent): string[] {
  switch (event.type) {
    case 'round':
      return [`round ${event.requests}/${event.calls}`];
    case 'appended':
      return [`appended ${event.events}`];
    case 'conflict':
      return ['conflict'];
    case 'lost':
      return [`lost ${event.known.version}`];
    case 'snapshot':
      return [`snapshot ${event.outcome}`];
    case 'too-large':
      return ['too large'];
    case 'fault':
      return [`fault ${(event.error as Error).name}`];
    default:
      return [];
  }
}
