/** The column `fault` of docs/promises.md: the planted faults that each test finds. */
import { MUTANTS } from '../test/mutants/mutants';

/** A row of a table of promises: before its last column, the tests, and the faults. */
const ROW = /^(\|.*\| (`.*) \|) (.*) \|$/gm;
const PLANTED = /\*\*.*?\*\*(?:; )?/g;

/** The page with the faults that `npm run test:mutants` plants, in bold, before those that were tried by hand. */
export function withPlantedFaults(page: string): string {
  return page.replace(ROW, (_, start: string, tests: string, faults: string) => {
    const planted = MUTANTS.filter(({ test }) => test && finds(tests, test)).map(
      ({ fault }) => `**${fault}**`,
    );
    const others = faults.replaceAll(PLANTED, '').replace(/; $/, '');
    const all = others === '–' && planted.length > 0 ? planted : [...planted, others].filter(Boolean);
    return `${start} ${all.join('; ') || '–'} |`;
  });
}

/** Whether one of the tests of a row is this one, or a suite that has it. */
function finds(tests: string, { file, title }: { readonly file: string; readonly title: string }): boolean {
  return tests.split(/; (?=`)/).some((test) => {
    const [, of, named = ''] = /^`([^`]+)`(?:: (.+))?$/.exec(test) ?? [];
    return of === file && named !== '' && (named.includes(title) || title.includes(named));
  });
}
