import { expect } from 'chai';
import { type Decider, type Decision, decideInOrder } from '../../src/event-sourcing';

const DECISIONS: Readonly<Record<string, Decision<'went up', 'refused'>>> = {
  up: { events: ['went up'] },
  none: { events: [] },
  refuse: { rejection: 'refused' },
};

describe('Decisions in order', () => {
  it('are made against the events of those before, and apply nothing for a command that records none', () => {
    const states: number[] = [];
    const counter: Decider<string, 'went up', 'refused', number> = {
      initialState: () => 0,
      decide: (command, state) => {
        states.push(state);
        return DECISIONS[command]!;
      },
      evolve: (state) => state + 1,
    };
    const decisions = decideInOrder(counter, ['up', 'none', 'refuse', 'up', 'up'], 0);
    expect(decisions.map(({ events = [] }) => events.length)).to.deep.equal([1, 0, 0, 1, 1]);
    expect(states).to.deep.equal([0, 1, 1, 1, 2]);
  });
});
