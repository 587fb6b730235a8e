import { expect } from 'chai';
import { markdown } from '../../bench/table';
import { withFigures } from '../../scripts/page-figures';

const PAGE = 'before\n<!-- faults: npm run faults -->\nold\n<!-- /faults -->\nafter\n';

describe('The measured figures of a page', () => {
  it('replace those between their markers, and nothing else', () => {
    const table = markdown(['fault', 'times'], [['kill', 2]], '---');
    expect(table).to.equal('| fault | times |\n| --- | --- |\n| kill | 2 |');
    expect(withFigures(PAGE, 'faults', table)).to.equal(PAGE.replace('old', table));
  });

  it('are refused by a page without their markers', () => {
    expect(() => withFigures(PAGE, 'durability', 'new')).to.throw('no markers of durability');
  });
});
