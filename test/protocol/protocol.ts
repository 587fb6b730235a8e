import type { Step } from './search';
import { type Append, type Head, type Request, type Result, type State, contains, headOf } from './state';

export interface Limits {
  readonly instances: number;
  /** Commands and queries that clients send, at most. */
  readonly commands: number;
  readonly queries: number;
  /** Lost, late and doubled calls, refusals, expiries, crashes, evictions and lost tails, at most. */
  readonly faults: number;
  /** Whether a failover or a restart may lose the last event. */
  readonly losesTail?: boolean;
  /** Whether an append that is under way then reaches the next primary. With TCP none does. */
  readonly lateAppendsSurvive?: boolean;
  /** Whether the network doubles an append. With TCP it does not. */
  readonly doublesAppends?: boolean;
}

/** Faults in the protocol that the search must find. */
export const FLAWS = [
  'a query is answered without a read barrier',
  'the store does not compare commits',
  'the store does not compare versions',
  'a reset is ignored',
  'an unknown outcome is reported as unavailable',
  'a repeated append has a new commit id',
  'a command in doubt is decided again after a reset',
] as const;

export type Flaw = (typeof FLAWS)[number];

/**
 * The protocol between the instances of the engine and the store, small enough to reach all of its states: one stream,
 * appends of one event, pages of one event, one request at a time per instance. The domain does not notice that a
 * command was recorded before: every decision has an event.
 */
export class Protocol {
  constructor(
    private readonly limits: Limits,
    private readonly flaw?: Flaw,
  ) {}

  readonly start = (): State => ({
    history: [],
    instances: Array.from({ length: this.limits.instances }, () => ({ known: [] })),
    late: [],
    shown: 0,
    acknowledged: [],
    refused: [],
    lost: [],
    commands: 0,
    queries: 0,
    commits: 0,
    faults: 0,
    stale: false,
  });

  /** What may happen in a state. */
  readonly stepsFrom = (state: State): Step<State>[] => {
    const steps: Step<State>[] = [];
    const add = (what: string, next: State) => void steps.push({ what, state: next });
    state.instances.forEach(({ request }, index) => {
      const addOwn = (what: string, next: State) => add(`instance ${index}: ${what}`, next);
      if (request === undefined) this.#addArrivals(state, index, addOwn);
      else if (request.result === undefined)
        addOwn('the store executes its call', this.#execute(state, index, request));
      else addOwn('it gets the reply', this.#reply(state, index, request, request.result));
      if (state.faults < this.limits.faults)
        this.#addFaults({ ...state, faults: state.faults + 1 }, index, request, addOwn);
    });
    state.late.forEach((append, index) => {
      const after = this.#append({ ...state, late: state.late.toSpliced(index, 1) }, append)[0];
      add(`the store executes the late append of commit ${append.commit}`, after);
    });
    if (this.limits.losesTail && state.history.length > 0 && state.faults < this.limits.faults)
      add('a failover loses the last event', this.#loseTail({ ...state, faults: state.faults + 1 }));
    return steps;
  };

  #addArrivals(state: State, index: number, add: (what: string, next: State) => void): void {
    if (state.commands < this.limits.commands) {
      const command = state.commands + 1;
      add(`command ${command} arrives`, this.#decide({ ...state, commands: command }, index, command));
    }
    if (state.queries < this.limits.queries) {
      const request = { command: 0, floor: state.shown };
      const after = withRequest({ ...state, queries: state.queries + 1 }, index, request);
      add(
        'a query arrives',
        this.#has('a query is answered without a read barrier') ? answer(after, index) : after,
      );
    }
  }

  #addFaults(
    state: State,
    index: number,
    request: Request | undefined,
    add: (what: string, next: State) => void,
  ): void {
    const evicted = withInstance(state, index, { known: [] });
    if (request === undefined) return add('it evicts the stream', evicted);
    add('it crashes', evicted);
    const { append } = request;
    if (append === undefined) return add('the request expires', refuse(state, index));
    const late = { ...state, late: sorted([...state.late, append]) };
    add('its append is unconfirmed', this.#repeat(state, index, request, append));
    if (request.result !== undefined) {
      if (this.limits.doublesAppends) add('its append is doubled', late);
      add('the request expires', this.#expire(state, index));
      return;
    }
    add('its append is late', this.#repeat(late, index, request, append));
    add('it crashes, and its append is late', withInstance(late, index, { known: [] }));
    add('the request expires, and its append is late', this.#expire(late, index));
    add(
      'its append is refused',
      request.unknown ? this.#repeat(state, index, request, append) : refuse(state, index),
    );
  }

  /** The instance appends the event of a command at the head that it knows. */
  #decide(state: State, index: number, command: number): State {
    const commit = state.commits + 1;
    const append = { expected: headOf(state.instances[index]!.known), commit, command };
    return withRequest({ ...state, commits: commit }, index, { command, floor: 0, append });
  }

  #execute(state: State, index: number, request: Request): State {
    if (request.append === undefined) {
      const result = this.#read(state, headOf(state.instances[index]!.known));
      return withRequest(state, index, { ...request, result });
    }
    const [after, result] = this.#append(state, request.append);
    return withRequest(after, index, { ...request, result });
  }

  #read({ history }: State, head: Head): Result {
    if (!this.#isIn(history, head)) return 'reset';
    const [version] = head;
    return { newer: history.slice(version, version + 1), more: history.length > version + 1 };
  }

  #append(state: State, { expected, commit, command }: Append): readonly [State, Result] {
    const { history } = state;
    if (!this.#isIn(history, expected)) return [state, 'reset'];
    const next = history[expected[0]];
    if (next !== undefined && !this.#has('the store does not compare versions'))
      return [state, next[0] === commit ? 'appended' : this.#read(state, expected)];
    return [{ ...state, history: [...history, [commit, command]] }, 'appended'];
  }

  #isIn(history: State['history'], head: Head): boolean {
    return this.#has('the store does not compare commits')
      ? head[0] <= history.length
      : contains(history, head);
  }

  #reply(state: State, index: number, { command, floor, append, unknown }: Request, result: Result): State {
    const { known } = state.instances[index]!;
    if (result === 'appended') {
      const { commit } = append!;
      return acknowledge(
        withInstance(state, index, { known: [...known, [commit, command]] }),
        index,
        command,
      );
    }
    const isReset = result === 'reset' && !this.#has('a reset is ignored');
    // The lost history may come back, because another instance repeats its append, and then an earlier attempt lands.
    if (isReset && unknown && !this.#has('a command in doubt is decided again after a reset'))
      return this.#expire(withInstance(state, index, { known: [], request: { command, floor } }), index);
    const newer = result === 'reset' ? { newer: [], more: false } : result;
    const request = { command, floor };
    const after = withInstance(state, index, { known: isReset ? [] : [...known, ...newer.newer], request });
    if (newer.more || (isReset && command === 0)) return after;
    return command === 0 ? answer(after, index) : this.#decide(after, index, command);
  }

  /** The outcome of an append is unknown: it is repeated until it is known. */
  #repeat(state: State, index: number, request: Request, append: Append): State {
    const repeated = { ...request, unknown: true, result: undefined };
    if (!this.#has('a repeated append has a new commit id')) return withRequest(state, index, repeated);
    const commit = state.commits + 1;
    return withRequest({ ...state, commits: commit }, index, { ...repeated, append: { ...append, commit } });
  }

  #expire(state: State, index: number): State {
    return this.#has('an unknown outcome is reported as unavailable')
      ? refuse(state, index)
      : withRequest(state, index, undefined);
  }

  /** All connections break. The store has the history without its last event. */
  #loseTail(state: State): State {
    const history = state.history.slice(0, -1);
    const lost = state.history.at(-1)![1];
    let after: State = {
      ...state,
      history,
      lost: sorted([...state.lost, lost]),
      shown: Math.min(state.shown, history.length),
      late: this.limits.lateAppendsSurvive ? state.late : [],
    };
    state.instances.forEach(({ request }, index) => {
      if (request === undefined) return;
      const { append, result } = request;
      if (append === undefined) after = refuse(after, index);
      else {
        if (result === undefined && this.limits.lateAppendsSurvive)
          after = { ...after, late: sorted([...after.late, append]) };
        after = this.#repeat(after, index, request, append);
      }
    });
    return after;
  }

  #has(flaw: Flaw): boolean {
    return this.flaw === flaw;
  }
}

function withInstance(state: State, index: number, instance: State['instances'][number]): State {
  return { ...state, instances: state.instances.with(index, instance) };
}

function withRequest(state: State, index: number, request: Request | undefined): State {
  return withInstance(state, index, { known: state.instances[index]!.known, request });
}

/** A query is answered from the events that the instance knows. */
function answer(state: State, index: number): State {
  const { known, request } = state.instances[index]!;
  const isStale = known.length < request!.floor || !contains(state.history, headOf(known));
  const shown = Math.max(state.shown, known.length);
  return { ...withRequest(state, index, undefined), shown, stale: isStale };
}

function acknowledge(state: State, index: number, command: number): State {
  const shown = Math.max(state.shown, state.instances[index]!.known.length);
  return { ...state, shown, acknowledged: sorted([...state.acknowledged, command]) };
}

/** The client learns that nothing was written, and nothing will be. */
function refuse(state: State, index: number): State {
  const { command } = state.instances[index]!.request!;
  const after = withRequest(state, index, undefined);
  return command === 0 ? after : { ...after, refused: sorted([...state.refused, command]) };
}

/** In one order, so that states that differ only in it are one state. */
function sorted<T>(values: readonly T[]): T[] {
  const text = (value: T) => JSON.stringify(value);
  return values.toSorted((a, b) => (text(a) < text(b) ? -1 : text(a) > text(b) ? 1 : 0));
}
