/**
 * Plays scripts: steps such as `a: +3`, separated by `;` or a line break; `step -> text` checks its result. These are the
 * steps with one aggregate of counters, a store whose calls the script controls, and a clock:
 *
 *     a: +3            executes a command, or queries with `a: sum`; the request is `a` from then on
 *     a b              the outcomes of these requests: pending, ok, a rejection, a sum, or the name of an error
 *     error a name     properties of its error
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
 *     loaded           the pages that were loaded: `2 to 4`, two events up to the version 4
 *     recorded|observed|bytes|idle|pass <ms>|settle
 */
import { expect } from 'chai';
import {
  type AggregateEvent,
  type AggregatesOptions,
  OutcomeUnknown,
  StoreUnavailable,
  UnreadableHistory,
} from '../../src/event-sourcing';
import { Aggregate } from '../../src/event-sourcing/aggregate';
import { AggregateCache } from '../../src/event-sourcing/aggregate-cache';
import { Engine } from '../../src/event-sourcing/engine';
import { LoadQueue } from '../../src/event-sourcing/load-queue';
import { streamName } from '../../src/testing/a-stream';
import { ManualClock, untilIdle } from '../support/manual-clock';
import { ScriptedStore, type StoreCall } from './scripted-store';
import { type Changed, changed, codec, counterKind } from './counter';

/**
 * By its first word, what a step does with the others; `''`: any other word. A function that it returns is called for the
 * result once nothing more can happen.
 */
export type Steps = Readonly<Record<string, (args: [string, ...string[]]) => unknown>>;

export async function play(steps: Steps, script: string): Promise<void> {
  for (const step of script.split(/[;\n]/).map((text) => text.trim())) {
    if (step === '') continue;
    const [words, expected] = step.split(/ *-> */) as [string, string?];
    const [word, ...args] = words.split(' ') as [string, string, ...string[]];
    const result = await (word in steps ? steps[word]!(args) : steps['']!([word, ...args]));
    await untilIdle();
    const text = typeof result === 'function' ? await (result as () => unknown)() : result;
    if (expected !== undefined) expect(String(text), step).to.equal(expected);
  }
}

/** Resolves when calls that take a few turns of the event loop have ended. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await untilIdle();
}

/** Test suites: by what they promise, the scripts that show it. The first step may be options, such as `page=2 every=6`. */
export type Suites = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** @param run plays a script with its options. */
export function describeAll(suites: Suites, run: (script: string, options: never) => Promise<void>): void {
  for (const [suite, rows] of Object.entries(suites))
    describe(suite, () => {
      for (const [promise, row] of Object.entries(rows)) {
        const [first] = /^[^;]*/.exec(row)!;
        const options = [...first.matchAll(/(\w+)=(\w+)/g)].map(([, name, value]) => [name, Number(value)]);
        const script = options.length > 0 ? row.slice(first.length) : row;
        it(promise, () => run(script, Object.fromEntries(options) as never));
      }
    });
}

export const listed = (texts: readonly unknown[], separator = ' '): string => texts.join(separator) || 'none';

/** A promise whose outcome a script shows: `pending`, its value as text, or the name of its error. */
export class Pending<Value> {
  outcome = 'pending';
  error: unknown;

  constructor(promise: Promise<Value>, textOf: (value: Value) => string = String) {
    promise.then(
      (value) => (this.outcome = textOf(value)),
      (error: unknown) => Object.assign(this, { outcome: (error as Error).name, error }),
    );
  }
}

/** The stream of all scripts. */
const NAME = 'ada';

async function serve(store: ScriptedStore<Changed>): Promise<void> {
  store.held = false;
  for (const call of [...store.calls]) await call.answer();
}

/** The steps with the calls of a store, with other writers of a stream, and with the time. */
export function storeSteps(store: ScriptedStore<Changed>, clock: ManualClock): Steps {
  const kept = new Map<string, StoreCall>();
  const call = (name?: string) => (name === undefined ? store.sole : kept.get(name)!);
  return {
    calls: () => listed(store.calls.map(describeCall), ', '),
    sent: () => {
      const sent = store.requests.splice(0).map(({ kind, after }) => `${kind} ${after.version}`);
      return listed(sent, ', ');
    },
    keep: ([name]) => kept.set(name, store.sole),
    execute: ([name]) => call(name).execute(),
    answer: ([name]) => call(name).answer(),
    lose: ([name]) => call(name).fail(new OutcomeUnknown('the connection broke')),
    refuse: () => store.sole.fail(new StoreUnavailable('the store refuses')),
    bug: () => store.sole.fail(new TypeError('a bug of the store')),
    unreadable: () => store.sole.fail(new UnreadableHistory('of a later version')),
    hang: () => store.sole.hang(),
    hold: () => void (store.held = true),
    serve: () => serve(store),
    others: ([first, ...more]) => {
      const events = (texts: string[]) => texts.map((by) => changed(Number(by)));
      if (Number.isNaN(Number(first))) return store.recordCommit(NAME, first, ...events(more));
      return store.record(NAME, ...events([first, ...more]));
    },
    'lose-tail': ([version]) => store.loseTail(NAME, Number(version)),
    pass: ([ms]) => clock.pass(Number(ms)),
    settle: settled,
  };
}

export const TIMEOUT_MS = 1000;

export interface ScriptOptions extends Partial<AggregatesOptions> {
  /** Events in a page of the store. */
  readonly page?: number;
  readonly kind?: Partial<typeof counterKind>;
  /** 1 if rounds start only at the step `begin`. */
  readonly postponed?: number;
  readonly maxCommandBytes?: number;
  /** Pages that are loaded at a time. */
  readonly maxReads?: number;
}

interface Answer {
  readonly sum?: number;
  readonly rejection?: string | undefined;
}

export class Script {
  readonly clock = new ManualClock();
  readonly store: ScriptedStore<Changed>;
  readonly aggregate: Aggregate<number, Changed, 'too-low', number, undefined>;
  readonly #requests = new Map<string, Pending<Answer>>();
  readonly #observed: string[] = [];
  readonly #loaded: string[] = [];
  readonly #postponed: (() => void)[] = [];
  #commits = 0;

  constructor(
    { page = 1000, kind, postponed, maxCommandBytes = Infinity, maxReads, ...options }: ScriptOptions = {},
    private readonly moreSteps: Steps = {},
  ) {
    this.store = new ScriptedStore(codec, page);
    const engine = new Engine(
      {
        store: this.store,
        clock: this.clock,
        mintCommit: () => `mine-${++this.#commits}`,
        timeoutMs: TIMEOUT_MS,
        maxWaiting: 100,
        maxBytes: Infinity,
        schedule: (start) => (postponed ? this.#postponed.push(start) : start()),
        observe: (event) => this.#observe(event),
        ...options,
      },
      {
        // Here `maxBytes` bounds only the one state.
        cache: new AggregateCache(Infinity),
        loads: new LoadQueue(this.clock, 2 * TIMEOUT_MS, maxReads),
        maxCommandBytes,
      },
    );
    this.aggregate = new Aggregate(streamName(NAME), { ...counterKind, ...kind }, engine);
    engine.cache.add(this.aggregate.stream, this.aggregate);
  }

  play(script: string): Promise<void> {
    return play({ ...storeSteps(this.store, this.clock), ...this.#steps, ...this.moreSteps }, script);
  }

  readonly #steps: Steps = {
    '': ([word, ...more]) => {
      if (word.endsWith(':')) this.#ask(word.slice(0, -1), more[0]!);
      else return () => [word, ...more].map((name) => this.#requests.get(name)!.outcome).join(', ');
    },
    error: ([name, ...of]) =>
      of.map((member) => String((this.#requests.get(name)!.error as Record<string, unknown>)[member])),
    load: () => this.#load(),
    begin: () => this.#postponed.splice(0).map((start) => start()).length,
    recorded: async () => listed((await this.store.history(NAME)).map(({ event }) => signed(event.by))),
    observed: () => () => listed(this.#observed.splice(0), ', '),
    bytes: () => this.aggregate.bytes,
    idle: () => this.aggregate.isIdle,
    loaded: () => listed(this.#loaded.splice(0), ', '),
  };

  #observe(event: AggregateEvent): void {
    if (event.type === 'loaded') this.#loaded.push(`${event.events} to ${event.version}`);
    else this.#observed.push(shown(event));
  }

  #ask(name: string, what: string): void {
    const answer: Promise<Answer> =
      what === 'sum' ? this.aggregate.query((sum) => ({ sum })) : this.aggregate.execute(Number(what));
    this.#requests.set(name, new Pending(answer, ({ sum, rejection }) => String(rejection ?? sum ?? 'ok')));
  }

  async #load(): Promise<string> {
    await serve(this.store);
    this.#ask('loaded', 'sum');
    await this.clock.pass(0);
    await settled();
    this.store.held = true;
    return this.#requests.get('loaded')!.outcome;
  }
}

const signed = (by: number) => (by > 0 ? `+${by}` : `${by}`);

function describeCall({ request: { kind, after, commit, events = [] } }: StoreCall): string {
  const changes = events.map((event) => signed(codec.decode(event)!.by));
  return [kind, `${after.version}/${after.commit}`, ...(commit ? ['as', commit] : []), ...changes].join(' ');
}

/** An event of the observer, except of a load. */
function shown(event: AggregateEvent): string {
  if (event.type === 'appended') return `appended ${event.events}`;
  if (event.type === 'lost') return `lost ${event.known.version}`;
  if (event.type === 'snapshot') return `snapshot ${event.outcome}`;
  if (event.type === 'fault') return `fault ${(event.error as Error).name}`;
  return event.type;
}
