import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { type Kind, decideAll } from '../event-sourcing';
import type { ContractCase } from './contract';
import { restoredState } from './decider-examples';

const MOST_COMMANDS = 20;

/**
 * The executable contract of a StateCodec, as cases for any test framework. Each case executes
 * random sequences of the given commands. Choose commands that lead to every kind of state and
 * involve every rule. A failure shows the seed, and the shortest sequence of commands that was
 * found.
 */
export function stateCodecContract<Command, Event, Rejection, State, Result>(
  kind: Kind<Command, Event, Rejection, State, Result>,
  commands: readonly [Command, ...Command[]],
  { seed }: { readonly seed?: number } = {},
): ContractCase[] {
  const { decider, stateCodec } = kind;
  if (!stateCodec) throw new TypeError('the kind has no state codec');
  const anyCommands = fc.array(fc.constantFrom(...commands), { maxLength: MOST_COMMANDS });
  const forAny = (check: (earlier: Command[], later: Command[]) => void) => async () =>
    fc.assert(fc.property(anyCommands, anyCommands, check), {
      ...(seed !== undefined && { seed }),
    });

  const execute = (executed: readonly Command[], before: State) =>
    executed.reduce((state, command) => decide(command, state).state, before);
  const stateAfter = (executed: readonly Command[]) => execute(executed, decider.initialState());
  function decide(command: Command, state: State) {
    const [decision] = decideAll(decider, [command], state);
    const events = decision!.events ?? [];
    return { decision, state: events.reduce((next, event) => decider.evolve(next, event), state) };
  }

  const cases: Readonly<Record<string, () => Promise<void>>> = {
    'a restored state equals the one that was saved': forAny((earlier) => {
      const saved = stateAfter(earlier);
      assert.deepEqual(restoredState(kind, saved), saved);
    }),

    'a restored state decides every later command in the same way as the saved state': forAny(
      (earlier, later) => {
        let saved = stateAfter(earlier);
        let restored = restoredState(kind, stateAfter(earlier));
        for (const command of [...later, ...commands]) {
          const [one, other] = [decide(command, saved), decide(command, restored)];
          assert.deepEqual(
            other.decision,
            one.decision,
            `after it was restored, ${inspect(command)} is decided otherwise`,
          );
          [saved, restored] = [one.state, other.state];
        }
      },
    ),

    'chunks do not change with the state once their iteration has begun': forAny(
      (earlier, later) => {
        const expected = [...stateCodec.encode(stateAfter(earlier))];
        const state = stateAfter(earlier);
        const chunks = stateCodec.encode(state)[Symbol.iterator]();
        const first = chunks.next();
        execute(later, state);
        const rest: string[] = [];
        for (let each = first; !each.done; each = chunks.next()) rest.push(each.value);
        assert.deepEqual(rest, expected);
      },
    ),

    'a truncated chunk is refused': forAny((earlier) => {
      for (const chunk of stateCodec.encode(stateAfter(earlier)))
        assert.throws(
          () => stateCodec.decode(decider.initialState(), chunk.slice(0, -1)),
          `decode accepts ${chunk.slice(0, -1)}`,
        );
    }),
  };
  return Object.entries(cases).map(([name, run]) => ({ name, run }));
}
