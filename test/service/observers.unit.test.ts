import { expect } from 'chai';
import type { AggregateObserver } from '../../src/event-sourcing';
import { combineObservers } from '../../src/service/observers';
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
  snapshot: [STREAM, 'saved'],
  tooLarge: [STREAM, 2 ** 20],
  loading: [STREAM, 100_000],
  fault: [STREAM, new Error('a fault')],
};

describe('Several observers of the engine', () => {
  for (const [name, args] of Object.entries(CALLS))
    it(`are each notified by ${name}, also behind one that does not have it`, () => {
      const notified: unknown[] = [];
      const observer = (nth: number) => ({ [name]: (...given: unknown[]) => notified.push([nth, ...given]) });
      const combined = combineObservers(observer(1), {}, observer(2));
      (combined[name as keyof AggregateObserver] as (...args: readonly unknown[]) => void)(...args);
      expect(notified).to.deep.equal([
        [1, ...args],
        [2, ...args],
      ]);
    });
});
