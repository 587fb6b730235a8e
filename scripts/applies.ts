// Fails if a planted fault no longer applies to the source, so that nobody learns that from CI, or
// if the page of the operations has no colour of enough contrast for a method of the OpenAPI
// document.
import { readFileSync } from 'node:fs';
import { openApi } from '../src/adapters/http/openapi';
import { METHODS } from '../src/adapters/http/operations';
import { FAULTS, plantedIn } from '../test/mutants/faults';

const problems: string[] = [];

for (const fault of FAULTS)
  try {
    plantedIn(readFileSync(fault.file, 'utf8'), fault);
  } catch (error) {
    problems.push(`the planted fault "${fault.what}": ${(error as Error).message}`);
  }

const PAGE = 'src/adapters/http/docs-page.ts';
const style = readFileSync(PAGE, 'utf8');
const shown = new Set(
  Object.values(openApi.paths).flatMap((operations) => Object.keys(operations)),
);
for (const method of METHODS.map((name) => name.toLowerCase()).filter((name) => shown.has(name)))
  if (!style.includes(`.opblock-${method} .opblock-summary-method`))
    problems.push(`${PAGE} has no colour for ${method.toUpperCase()}`);

for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
