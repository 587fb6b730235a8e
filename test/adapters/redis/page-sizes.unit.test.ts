import { expect } from 'chai';
import { PageSizes } from '../../../src/adapters/redis/page-sizes';

const MIB = 2 ** 20;

describe('The pages of a stream in Redis', () => {
  it('are large if its events are small, except the first one', () => {
    const pages = new PageSizes();
    expect(pages.next('ada', 0)).to.equal(32);
    pages.recordPage('ada', 32, 32 * 40);
    expect(pages.next('ada', 32)).to.equal(128);
  });

  it('become small with a page of large events, and for this stream only', () => {
    const pages = new PageSizes();
    pages.recordPage('ada', 128, 8 * MIB);
    expect(pages.next('ada', 128)).to.equal(8);
    expect(pages.next('bob', 128)).to.equal(128);
  });

  it('grow again when later events are small', () => {
    const pages = new PageSizes();
    pages.recordPage('ada', 128, 8 * MIB);
    let count = 0;
    while (pages.next('ada', 500) < 128 && count++ < 10)
      pages.recordPage('ada', pages.next('ada', 500), 4000);
    expect(count).to.equal(4);
  });

  it('keep their size if a page is small because the stream ends', () => {
    const pages = new PageSizes();
    pages.recordPage('ada', 128, 8 * MIB);
    pages.recordPage('ada', 1, 65_536);
    expect(pages.next('ada', 129)).to.equal(8);
  });

  it('are halved after a timeout, down to a single event', () => {
    const pages = new PageSizes(4);
    for (const limit of [4, 2, 1, 1]) {
      expect(pages.next('ada', 10)).to.equal(limit);
      pages.recordTimeout('ada', limit);
    }
  });

  it('never have more events than the configured maximum', () => {
    expect(new PageSizes(3).next('ada', 0)).to.equal(3);
    expect(new PageSizes(3).next('ada', 9)).to.equal(3);
  });
});
