import { expect } from 'chai';
import type { Decider } from '../../src/event-sourcing';
import { examplesOf } from '../../src/testing';

interface Added {
  readonly type: 'Added';
  readonly amount: number;
}

/** Holds five coins. A gift of more is split into events of two coins; a gift of nothing changes nothing. */
const jar: Decider<number, Added, 'full', number> = {
  initialState: () => 0,
  decide(amount, coins) {
    if (coins + amount > 5) return { rejection: 'full' };
    const events: Added[] = [];
    for (let left = amount; left > 0; left -= 2) events.push(added(Math.min(2, left)));
    return { events };
  },
  evolve(coins, { amount }) {
    if (coins + amount > 5) throw new RangeError('the jar overflows');
    return coins + amount;
  },
};
const added = (amount: number): Added => ({ type: 'Added', amount });
const { given } = examplesOf(jar);

/** The error that `example` throws. */
function failureOf(example: () => void): Error {
  try {
    example();
  } catch (error) {
    return error as Error;
  }
  return expect.fail('the example did not fail');
}

describe('An example of a decider', () => {
  it('passes if the decision is the expected one', () => {
    given().when(3).then(added(2), added(1));
    given(added(4)).when(2).thenRejected('full');
    given(added(4)).when(0).then();
    given(added(1)).when(3, 2).thenRejected('full');
    given(added(1), added(2)).thenState((coins) => expect(coins).to.equal(3));
  });

  it('shows the expected events and the rejection', () => {
    expect(failureOf(() => given(added(4)).when(2).then(added(2))).message).to.equal(
      [
        'the decider decided otherwise',
        'given',
        "  { amount: 4, type: 'Added' }",
        'when',
        '  2',
        'then (- expected, + decided)',
        "- event { amount: 2, type: 'Added' }",
        "+ rejected: 'full'",
      ].join('\n'),
    );
  });

  it('marks only the events that differ', () => {
    const { message } = failureOf(() => given().when(5).then(added(2), added(3), added(1)));
    expect(message).to.contain(
      [
        'given',
        '  no events',
        'when',
        '  5',
        'then (- expected, + decided)',
        "  event { amount: 2, type: 'Added' }",
        "- event { amount: 3, type: 'Added' }",
        "+ event { amount: 2, type: 'Added' }",
        "  event { amount: 1, type: 'Added' }",
      ].join('\n'),
    );
  });

  it('shows missing and unexpected events', () => {
    expect(failureOf(() => given().when(2).then()).message).to.match(
      /\n- accepted, no events\n\+ event \{ amount: 2, type: 'Added' \}$/,
    );
    expect(failureOf(() => given().when(2).then(added(2), added(2))).message).to.match(
      /\n {2}event \{ amount: 2, type: 'Added' \}\n- event \{ amount: 2, type: 'Added' \}$/,
    );
  });

  it('shows another rejection than the expected one', () => {
    const { given } = examplesOf<number, Added, 'full' | 'closed', number>(jar);
    expect(failureOf(() => given().when(6).thenRejected('closed')).message).to.match(
      /\n- rejected: 'closed'\n\+ rejected: 'full'$/,
    );
  });

  it('shows the member that differs in a large event', () => {
    const text = (last: string) => ({
      lines: [...Array.from({ length: 9 }, () => 'a pen of ten cents'), last],
    });
    const { given } = examplesOf<string, ReturnType<typeof text>, never, null>({
      initialState: () => null,
      decide: (command) => ({ events: [text(command)] }),
      evolve: () => null,
    });
    const { message } = failureOf(() => given().when('a pencil').then(text('a pin')));
    expect(message.split('\n').filter((line) => /^[-+]/.test(line))).to.deep.equal([
      "-     'a pin'",
      "+     'a pencil'",
    ]);
  });

  it('shows the rejection of an earlier command', () => {
    expect(failureOf(() => given(added(4)).when(2, 1).then()).message).to.contain(
      "when\n  2 rejected: 'full'\n  1\nthen",
    );
  });

  it('shows the last ten events of a long history', () => {
    const none = Array.from({ length: 42 }, () => added(0));
    const { message } = failureOf(() =>
      given(...none)
        .when(1)
        .then(),
    );
    expect(message).to.contain('given\n  … 32 earlier events\n  { amount: 0');
    expect(message.match(/\{ amount: 0/g)).to.have.length(10);
  });

  it('fails if the history is impossible, and names the event', () => {
    const failure = failureOf(() => given(added(4), added(2)));
    expect(failure.message).to.equal(
      "given: evolve refuses event 2, { amount: 2, type: 'Added' }: the jar overflows",
    );
    expect(failure.cause).to.be.instanceOf(RangeError);
  });

  it('fails with an AssertionError whose stack begins at the line of the test', () => {
    for (const failure of [
      failureOf(() => given().when(2).then()),
      failureOf(() => given().when(2).thenRejected('full')),
    ]) {
      expect(failure.name).to.equal('AssertionError');
      expect(/^ +at .*$/m.exec(failure.stack!)![0]).to.contain('decider-examples.unit.test.ts');
    }
  });
});
