import { expect } from 'chai';
import { describeError, messagesOf } from '../../src/application';

describe('The description of an error', () => {
  it('contains the messages of its causes, and none twice if an error repeats the message of its cause', () => {
    const cause = new TypeError('refused');
    const wrapped = new Error('refused', { cause });
    const error = new RangeError('cannot start', { cause: wrapped });
    expect(messagesOf(error)).to.deep.equal(['cannot start', 'refused']);
    expect(describeError(error)).to.equal('RangeError: cannot start: refused');
  });

  it('exists even if the thrown value cannot be converted to a text', () => {
    const value: unknown = Object.create(null);
    expect(messagesOf(value)).to.deep.equal(['a thrown value without a text']);
    expect(describeError(value)).to.equal('a thrown value without a text');
    const error = new AggregateError([value], '');
    expect(describeError(error)).to.equal('AggregateError: a thrown value without a text');
  });

  it('ends even if the causes form a cycle', () => {
    const inner: Error = new Error('inner');
    const outer = new Error('outer', { cause: inner });
    inner.cause = outer;
    expect(describeError(outer)).to.equal('Error: outer: inner');
  });

  it('ends even if an error without a message contains itself', () => {
    const errors: unknown[] = [new TypeError('refused')];
    const error = new AggregateError([], '');
    error.errors = errors;
    errors.push(error);
    expect(describeError(error)).to.equal('AggregateError: refused');
    errors.shift();
    expect(describeError(error)).to.equal('AggregateError');
  });

  it('exists even if the errors of an error are not an array', () => {
    const error = Object.assign(new Error(''), { errors: null });
    expect(messagesOf(error)).to.deep.equal(['Error']);
  });

  it('contains the name of an error without a message only once', () => {
    expect(describeError(new RangeError())).to.equal('RangeError');
    expect(describeError(new RangeError('', { cause: new Error('refused') }))).to.equal(
      'RangeError: refused',
    );
  });
});
