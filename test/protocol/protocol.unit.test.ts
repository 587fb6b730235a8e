import { expect } from 'chai';
import { FLAWS, type Flaw, type Limits, Protocol } from './protocol';
import { type SearchResult, searchStates } from './search';
import { type State, problemOf } from './state';

const LONG = process.env['LONG'] !== undefined;
const SMALL: Limits = { instances: 2, commands: 2, queries: 1, faults: 2 };
const SURVIVING: Limits = { ...SMALL, faults: 3, lateAppendsSurvive: true, losesTail: true };

function search(
  limits: Limits,
  flaw?: Flaw,
  problem: (state: State) => string | undefined = problemOf,
): SearchResult {
  const protocol = new Protocol(limits, flaw);
  return searchStates(protocol.start(), protocol.stepsFrom, problem);
}

function expectNoViolation(limits: Limits, minStates: number): void {
  const { states, violation } = search(limits);
  expect(violation, violation?.join('\n')).to.equal(undefined);
  expect(states).to.be.at.least(minStates);
}

describe('In all states of the protocol', () => {
  it('no property is violated by lost, late and doubled appends, refusals, expiries, crashes and evictions', () => {
    expectNoViolation({ ...SMALL, doublesAppends: true }, 12_000);
  });

  it('no property is violated by a failover that loses events, if requests die with their connection', () => {
    expectNoViolation({ ...SMALL, losesTail: true }, 20_000);
  });

  if (LONG)
    it('no property is violated by more faults, or with three instances', () => {
      expectNoViolation({ ...SMALL, faults: 3, losesTail: true }, 80_000);
      expectNoViolation({ ...SMALL, faults: 4, doublesAppends: true }, 80_000);
      expectNoViolation({ instances: 3, commands: 3, queries: 1, faults: 1, losesTail: true }, 1_000_000);
    }).timeout(900_000);
});

describe('In some state of the protocol', () => {
  it('a command is recorded of which nothing was to be written, if an append survives a failover that loses events', () => {
    expectReachable(SURVIVING, 'a command is recorded of which nothing was to be written');
  });

  it('a command is recorded twice, if the network doubles an append and a failover loses events', () => {
    expectReachable({ ...SMALL, doublesAppends: true, losesTail: true }, 'a command is recorded twice');
  });

  if (LONG)
    it('no command is recorded twice, even if an append survives a failover that loses events', () => {
      expect(searchFor(SURVIVING, 'a command is recorded twice').violation).to.equal(undefined);
    }).timeout(900_000);
});

function searchFor(limits: Limits, problem: string): SearchResult {
  return search(limits, undefined, (state) => (problemOf(state) === problem ? problem : undefined));
}

function expectReachable(limits: Limits, problem: string): void {
  expect(searchFor(limits, problem).violation?.at(-1)).to.equal(problem);
}

describe('The search finds that', () => {
  for (const flaw of FLAWS)
    it(flaw, () => {
      const { violation } = search({ ...SMALL, losesTail: true }, flaw);
      expect(violation).not.to.equal(undefined);
    });
});
