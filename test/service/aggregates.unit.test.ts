import { expect } from 'chai';
import { partsOf, streamOf } from '../../src/event-sourcing';
import { KINDS } from '../../src/service/aggregates';

describe('The kinds of aggregates of the service', () => {
  it('have a category each, with which the names of streams are read back', () => {
    expect(new Set(KINDS.map(({ category }) => category)).size).to.equal(KINDS.length);
    for (const { category } of KINDS)
      expect(partsOf(streamOf(category, 'a/b'))).to.deep.equal({ category, id: 'a/b' });
  });
});
