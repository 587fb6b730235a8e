import { expect } from 'chai';
import { parseStreamName } from '../../src/event-sourcing';

describe('A stream name', () => {
  it('has 1 to 255 characters of any kind', () => {
    for (const text of ['a', 'ada lovelace', 'a\nb', '{}%:', 'x'.repeat(255), '🌱'.repeat(255)])
      expect(parseStreamName(text), text).to.equal(text);
  });

  it('is not empty, longer, or ill-formed Unicode', () => {
    for (const text of ['', 'x'.repeat(256), '🌱'.repeat(256), '\ud800', 'a\udc00b'])
      expect(parseStreamName(text), text).to.equal(undefined);
  });
});
