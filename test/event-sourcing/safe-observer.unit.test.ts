import { expect } from 'chai';
import type { AggregateObserver } from '../../src/event-sourcing';
import { SafeObserver } from '../../src/event-sourcing/aggregate/safe-observer';
import { streamName } from '../../src/testing/a-stream';

type Calls = { readonly [Name in keyof AggregateObserver]-?: Parameters<Required<AggregateObserver>[Name]> };

const STREAM = streamName('ada');
const HEAD = { version: 1, commit: 'a commit' };

/** A call of each method. */
const CALLS: Calls = {
  round: [3, 1],
  appended: [2],
  conflict: [],
  historyLost: [STREAM, HEAD],
  loaded: [64],
  snapshot: [STREAM, 'saved', undefined],
  tooLarge: [STREAM, 2 ** 20],
  loading: [STREAM, 100_000],
  fault: [STREAM, new Error('a fault')],
};

describe('Several observers of the engine', () => {
  for (const [name, args] of Object.entries(CALLS))
    it(`are each notified by ${name}, also behind one that does not have it, and one that throws`, () => {
      const notified: unknown[] = [];
      const observer = (nth: number) => ({ [name]: (...given: unknown[]) => notified.push([nth, ...given]) });
      const throws = {
        [name]: () => {
          throw new Error('an observer failed');
        },
      };
      const all = SafeObserver.of([observer(1), {}, throws, observer(2)]);
      (all[name as keyof AggregateObserver] as (...args: readonly unknown[]) => void)(...args);
      expect(notified).to.deep.equal([
        [1, ...args],
        [2, ...args],
      ]);
    });
});
