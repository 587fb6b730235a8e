import assert from 'node:assert/strict';
import { type Decider, decideInOrder } from '../event-sourcing';

/** Examples of a decider's rules, as given/when/then. A failed example throws an AssertionError. */
export interface DeciderExamples<Command, Event, Rejection, State> {
  /** A stream with this history. */
  given(...history: Event[]): {
    /** Decides commands in order; the decision on the last one is checked. */
    when(...commands: [Command, ...Command[]]): {
      /** The command is accepted with exactly these events; none if it changes nothing. */
      then(...events: Event[]): void;
      /** The command is rejected for this reason. */
      thenRejected(reason: Rejection): void;
    };
    /** The state of that stream. */
    thenState(examine: (state: State) => void): void;
  };
}

/**
 * Examples in plain functions, for any test framework:
 *
 *     const { given } = examplesOf(decider);
 *     it('rejects a payment of nothing', () => given(placed).when(pay(0)).thenRejected('no-amount'));
 */
export function examplesOf<Command, Event, Rejection, State>(
  decider: Decider<Command, Event, Rejection, State>,
): DeciderExamples<Command, Event, Rejection, State> {
  return {
    given(...history) {
      const state = history.reduce((before, event) => decider.evolve(before, event), decider.initialState());
      return {
        when(...commands) {
          const decision = decideInOrder(decider, commands, state).at(-1);
          return {
            then: (...events) => assert.deepEqual(decision, { events }),
            thenRejected: (rejection) => assert.deepEqual(decision, { rejection }),
          };
        },
        thenState: (examine) => examine(state),
      };
    },
  };
}
