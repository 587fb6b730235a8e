/**
 * Whether what concurrent clients saw could have come from one copy of the
 * data that serves one operation at a time, each at some moment between its
 * question and its answer (Herlihy and Wing, 1990).
 *
 * The search is Wing and Gong's (1993): take any operation that nothing
 * unfinished precedes, carry it out on the model, go on with the rest, and go
 * back where the model disagrees. Lowe's addition (2017) makes it bearable:
 * what is left to do depends only on which operations are done and on the
 * state, so a combination that failed once is not tried again.
 */
export interface Operation<Input, Output> {
  readonly input: Input;
  /** When it was asked and answered, on one clock that all share and that never stands still. */
  readonly asked: number;
  readonly answered: number;
  /** Absent where nobody knows: it took effect at any moment since it was asked, or will, or never. */
  readonly output?: Output;
}

/** The data as one careful clerk would keep it. States and outputs are compared as JSON. */
export interface SequentialModel<State, Input, Output> {
  readonly initial: State;
  step(state: State, input: Input): { readonly state: State; readonly output: Output };
}

export function isLinearizable<State, Input, Output>(
  model: SequentialModel<State, Input, Output>,
  operations: readonly Operation<Input, Output>[],
): boolean {
  const refuted = new Set<string>();

  function search(done: bigint, state: State): boolean {
    const left = operations.filter((_, index) => (done & bit(index)) === 0n);
    const owed = left.filter((operation) => operation.output !== undefined);
    if (owed.length === 0) return true;

    const stateKey = JSON.stringify(state);
    const key = `${done} ${stateKey}`;
    if (refuted.has(key)) return false;

    // Whoever was asked after this moment comes after the operation that was answered at it.
    const firstAnswer = Math.min(...owed.map((operation) => operation.answered));
    for (const [index, { input, asked, output }] of operations.entries()) {
      if ((done & bit(index)) !== 0n || asked > firstAnswer) continue;
      const next = model.step(state, input);
      const possible =
        output === undefined
          ? // Where it would change nothing, leaving it out covers the case.
            JSON.stringify(next.state) !== stateKey
          : JSON.stringify(next.output) === JSON.stringify(output);
      if (possible && search(done | bit(index), next.state)) return true;
    }
    refuted.add(key);
    return false;
  }

  return search(0n, model.initial);
}

function bit(index: number): bigint {
  return 1n << BigInt(index);
}
