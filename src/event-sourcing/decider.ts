/** The result of a command: the events to record (none if it changes nothing), or why it is rejected. */
export type Decision<Event, Rejection> =
  | { readonly events: readonly Event[]; readonly rejection?: undefined }
  | { readonly events?: undefined; readonly rejection: Rejection };

/**
 * The rules of one domain, as pure functions: synchronous, without I/O, clock or randomness. The engine knows
 * nothing else of a domain.
 */
export interface Decider<Command, Event, Rejection, State> {
  /** The state of a stream without events. */
  initialState(): State;

  /** Decides a command. Must not change `state`. */
  decide(command: Command, state: State): Decision<Event, Rejection>;

  /**
   * The state after `event`. Where it throws, the rules could not have produced that event, and the history is not
   * served (`UnreadableHistory`). May change `state` in place and return it if {@link Decider.decideInOrder} is there.
   */
  evolve(state: State, event: Event): State;

  /**
   * Decides several commands, each against `state` and the events of those before it. Must not change `state`. By
   * default each decision's events are applied by `evolve` to get the state for the next one.
   */
  decideInOrder?(commands: readonly Command[], state: State): readonly Decision<Event, Rejection>[];
}

/** The decisions on `commands`, each made against `state` and the events of those before it. */
export function decideAll<Command, Event, Rejection, State>(
  decider: Decider<Command, Event, Rejection, State>,
  commands: readonly Command[],
  state: State,
): readonly Decision<Event, Rejection>[] {
  if (decider.decideInOrder) return decider.decideInOrder(commands, state);
  let current = state;
  return commands.map((command) => {
    const decision = decider.decide(command, current);
    for (const event of decision.events ?? []) current = decider.evolve(current, event);
    return decision;
  });
}
