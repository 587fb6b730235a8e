import { expect } from 'chai';
import { type Operation, type SequentialModel, isLinearizable } from '../support/linearizability';

type Input = 'read' | number;

/** One number that is written and read. */
const REGISTER: SequentialModel<number, Input, number | 'ok'> = {
  initial: 0,
  step: (state, input) => (input === 'read' ? { state, output: state } : { state: input, output: 'ok' }),
};

const read = (asked: number, answered: number, output: number): Operation<Input, number | 'ok'> => ({
  input: 'read',
  asked,
  answered,
  output,
});
const write = (asked: number, answered: number, value: number): Operation<Input, number | 'ok'> => ({
  input: value,
  asked,
  answered,
  output: 'ok',
});
const unknownWrite = (asked: number, value: number): Operation<Input, number | 'ok'> => ({
  input: value,
  asked,
  answered: Infinity,
});

describe('A history of a register', () => {
  it('is linearizable where nobody asked anything', () => {
    expect(isLinearizable(REGISTER, [])).to.be.true;
  });

  it('is linearizable where each read sees the last write', () => {
    expect(isLinearizable(REGISTER, [write(1, 2, 7), read(3, 4, 7), write(5, 6, 8), read(7, 8, 8)])).to.be
      .true;
  });

  it('is not where a read misses a write that was acknowledged before it', () => {
    expect(isLinearizable(REGISTER, [write(1, 2, 7), read(3, 4, 0)])).to.be.false;
  });

  it('is not where a read sees a write that was asked for only after it', () => {
    expect(isLinearizable(REGISTER, [read(1, 2, 7), write(3, 4, 7)])).to.be.false;
  });

  it('is linearizable whether a read sees a concurrent write or does not', () => {
    expect(isLinearizable(REGISTER, [write(1, 4, 7), read(2, 3, 7)])).to.be.true;
    expect(isLinearizable(REGISTER, [write(1, 4, 7), read(2, 3, 0)])).to.be.true;
  });

  it('is not where, during one write, a second read unsees what a first one saw', () => {
    expect(isLinearizable(REGISTER, [write(1, 6, 7), read(2, 3, 7), read(4, 5, 0)])).to.be.false;
  });

  it('is linearizable only in an order that must be searched for', () => {
    const writes = [write(1, 20, 1), write(2, 21, 2), write(3, 22, 3)];
    const reads = [read(4, 5, 3), read(6, 7, 1), read(8, 9, 2)];

    expect(isLinearizable(REGISTER, [...writes, ...reads])).to.be.true;
    expect(isLinearizable(REGISTER, [...writes, ...reads, read(10, 11, 3)])).to.be.false;
  });

  it('is linearizable where an unknown write was seen soon, late or never', () => {
    const lost = unknownWrite(1, 7);

    expect(isLinearizable(REGISTER, [lost, read(2, 3, 7)])).to.be.true;
    expect(isLinearizable(REGISTER, [lost, read(2, 3, 0), read(4, 5, 7)])).to.be.true;
    expect(isLinearizable(REGISTER, [lost, read(2, 3, 0), read(4, 5, 0)])).to.be.true;
  });

  it('is not where an unknown write was seen before it was asked for, or twice', () => {
    const lost = unknownWrite(3, 7);

    expect(isLinearizable(REGISTER, [read(1, 2, 7), lost])).to.be.false;
    expect(isLinearizable(REGISTER, [lost, read(4, 5, 7), write(6, 7, 8), read(8, 9, 7)])).to.be.false;
  });

  it('is judged quickly, however many operations overlap', () => {
    const writes = Array.from({ length: 14 }, (_, value) => unknownWrite(value, value + 1));

    expect(isLinearizable(REGISTER, [...writes, read(50, 51, 99)])).to.be.false;
  });
});
