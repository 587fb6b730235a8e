import { AssertionError } from 'node:assert';
import { isDeepStrictEqual } from 'node:util';
import { type Decider, type Decision, decideAll } from '../event-sourcing';
import { type Example, differenceText, printed } from './failed-example';

/** Examples of a decider's rules, as given/when/then. A failed one throws an AssertionError that shows the difference. */
export interface DeciderExamples<Command, Event, Rejection, State> {
  /** A stream with this history. Throws Error if the decider cannot evolve it. */
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
      const state = stateAfter(decider, history);
      return {
        when(...commands) {
          const example = { history, commands, decisions: decideAll(decider, commands, state) };
          return {
            then: function then(...events) {
              mustDecide(example, { events }, then);
            },
            thenRejected: function thenRejected(rejection) {
              mustDecide(example, { rejection }, thenRejected);
            },
          };
        },
        thenState: (examine) => examine(state),
      };
    },
  };
}

function stateAfter<Command, Event, Rejection, State>(
  decider: Decider<Command, Event, Rejection, State>,
  history: readonly Event[],
): State {
  return history.reduce((state, event, index) => {
    try {
      return decider.evolve(state, event);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new Error(`given: evolve refuses event ${index + 1}, ${printed(event)}: ${why}`, {
        cause: error,
      });
    }
  }, decider.initialState());
}

/** @param caller the function that the test called: the stack of the error begins there. */
function mustDecide<Event, Rejection>(
  example: Example<Event, Rejection>,
  expected: Decision<Event, Rejection>,
  caller: (...args: never[]) => void,
): void {
  if (isDeepStrictEqual(example.decisions.at(-1), expected)) return;
  throw new AssertionError({ message: differenceText(example, expected), stackStartFn: caller });
}
