/** A step of a model: what happens, and the state after it. */
export interface Step<State> {
  readonly what: string;
  readonly state: State;
}

export interface SearchResult {
  /** Number of different states that were reached. */
  readonly states: number;
  /** The shortest way to a violated property: what happens, and the violation last. Absent if there is none. */
  readonly violation?: readonly string[];
}

/**
 * Searches all states that can be reached from `start`, the nearest first, up to a violation.
 * @param problemOf the property that a state violates, if any.
 */
export function searchStates<State>(
  start: State,
  stepsFrom: (state: State) => Iterable<Step<State>>,
  problemOf: (state: State) => string | undefined,
): SearchResult {
  /** By state as text: the state before it, and what happened then. */
  const reached = new Map<string, Origin>([[JSON.stringify(start), { before: undefined, what: 'start' }]]);
  let frontier = [start];
  while (frontier.length > 0) {
    const next: State[] = [];
    for (const from of frontier) {
      const before = JSON.stringify(from);
      for (const { what, state } of stepsFrom(from)) {
        const key = JSON.stringify(state);
        if (reached.has(key)) continue;
        reached.set(key, { before, what });
        const problem = problemOf(state);
        if (problem !== undefined)
          return { states: reached.size, violation: [...wayTo(key, reached), problem] };
        next.push(state);
      }
    }
    frontier = next;
  }
  return { states: reached.size };
}

interface Origin {
  readonly before: string | undefined;
  readonly what: string;
}

function wayTo(key: string, reached: ReadonlyMap<string, Origin>): string[] {
  const way: string[] = [];
  for (let at: string | undefined = key; at !== undefined;) {
    const { before, what }: Origin = reached.get(at)!;
    if (before !== undefined) way.unshift(what);
    at = before;
  }
  return way;
}
