// Fails if a planted fault no longer applies to the source, or if no test has the title that must
// find it, so that nobody learns that from CI. Fails, too, if no test has the words that decision
// record 0013 quotes, or if the page of the operations has no colour of enough contrast for a method
// of the OpenAPI document.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { openApi } from '../test/support/open-api';
import { METHODS } from '../src/adapters/http/operations';
import { FAULTS, plantedIn } from '../test/mutants/faults';

const problems: string[] = [];

// The title may come from a contract, or from a script of steps.
const tests = ['test', 'src/testing'].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:ts|txt)$/.test(name) && !name.endsWith('faults.txt'))
    .map((name) => readFileSync(join(folder, name), 'utf8')),
);

for (const fault of FAULTS)
  try {
    plantedIn(readFileSync(fault.file, 'utf8'), fault);
    if (!tests.some((text) => text.includes(fault.title)))
      throw new Error(`no test has the title "${fault.title}"`);
  } catch (error) {
    problems.push(`the planted fault "${fault.what}": ${(error as Error).message}`);
  }

const RECORD = 'docs/decisions/0013-guest-of-koa-and-node.md';
for (const [, title] of readFileSync(RECORD, 'utf8').matchAll(/: "([^"]+)" \|$/gm))
  if (!tests.some((text) => text.includes(title!)))
    problems.push(`${RECORD}: no test has the title "${title}"`);

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
