/** The column `planted fault` of docs/promises.md: the planted faults that the tests of each row find. */
import { MUTANTS } from '../test/mutants/mutants';

/** A row of a table of promises: the promise, the tests, the planted faults, and the faults that were tried by hand. */
const ROW = /^(\|.*? \| (`.*?) \|) [^|]* (\| [^|]* \|)$/gm;

/** The page with the faults that `npm run test:mutants` plants. */
export function withPlantedFaults(page: string): string {
  return page.replace(ROW, (_, start: string, tests: string, triedByHand: string) => {
    const planted = MUTANTS.filter(({ test }) => test && finds(tests, test)).map(({ fault }) => fault);
    return `${start} ${planted.join('; ') || '–'} ${triedByHand}`;
  });
}

/** Whether one of the tests of a row is this one, or a suite that has it. */
function finds(tests: string, { file, title }: { readonly file: string; readonly title: string }): boolean {
  return tests.split(/; (?=`)/).some((test) => {
    const [, of, named = ''] = /^`([^`]+)`(?:: (.+))?$/.exec(test) ?? [];
    return of === file && named !== '' && (named.includes(title) || title.includes(named));
  });
}
