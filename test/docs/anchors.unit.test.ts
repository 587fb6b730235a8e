import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PAGES } from './blocks';

/** The anchors of a page's headings, as GitHub derives them. */
function anchorsOf(page: string): string[] {
  const text = readFileSync(page, 'utf8').replaceAll(/^```[^]*?^```$/gm, '');
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

describe('A link to a heading', () => {
  for (const page of PAGES) {
    const links = [...readFileSync(page, 'utf8').matchAll(/\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)/g)];
    for (const [, target = '', anchor] of links) {
      it(`${target}#${anchor!} in ${page} leads to one that exists`, () => {
        expect(anchorsOf(target === '' ? page : join(dirname(page), target))).to.include(anchor);
      });
    }
  }
});
