// Generates the parts of the pages that show the code: the graph of the imports, and the configuration.
// `--check` changes nothing, and fails if a page is out of date.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { variables } from '../src/service/config';

const PAGES = ['README.md', 'docs/architecture.md'];

function layers(): string {
  const mermaid = execFileSync('node_modules/.bin/depcruise', [
    'src',
    '--config',
    '--include-only=^src',
    '--output-type=mermaid',
    '--collapse=^src/(domain|application|testing|service|adapters/[^/]+)',
  ]);
  return `\`\`\`mermaid\n${mermaid.toString().trim()}\n\`\`\``;
}

function configuration(): string {
  const rows = variables.map(
    ({ name, fallback, meaning }) =>
      `| \`${name}\` | ${fallback === undefined ? '–' : `\`${fallback}\``} | ${meaning} |`,
  );
  return ['| name | default | meaning |', '| --- | --- | --- |', ...rows].join('\n');
}

const places: Readonly<Record<string, string>> = { layers: layers(), configuration: configuration() };

const stale = PAGES.filter((page) => {
  const before = readFileSync(page, 'utf8');
  const after = before.replace(
    /(<!-- (\w+): npm run docs -->\n)[^]*?(<!-- \/\2 -->)/g,
    (_, start: string, name: string, end: string) => `${start}${places[name] ?? ''}\n${end}`,
  );
  if (after !== before && !process.argv.includes('--check')) writeFileSync(page, after);
  return after !== before;
});

if (process.argv.includes('--check') && stale.length > 0) {
  console.error(`the generated parts of ${stale.join(' and ')} are out of date: npm run docs`);
  process.exitCode = 1;
}
