/**
 * Ends the process with exit code 2 if package.json does not allow this version of Node. An older
 * version would start the service and fail later, because it cannot `require` an ES module. Each
 * program imports this file first, so this code must run on old versions.
 */
import { readFileSync } from 'fs';
import { join } from 'path';

const manifest = JSON.parse(readFileSync(join(__dirname, '../package.json'), 'utf8')) as {
  readonly engines: { readonly node: string };
};
const allowed = manifest.engines.node;
const [major, minor] = process.versions.node.split('.').map(Number) as [number, number];

/** @param range has the form `^major.minor` or `>=major`. */
function isWithin(range: string): boolean {
  const [leastMajor, leastMinor = 0] = range.replace(/^\D+/, '').split('.').map(Number) as [
    number,
    number?,
  ];
  return range.startsWith('>=') ? major >= leastMajor : major === leastMajor && minor >= leastMinor;
}

if (!allowed.split(' || ').some(isWithin)) {
  process.stderr.write(
    `plant-store: this is Node ${process.versions.node}, but ${allowed} is needed: ` +
      'install Node 24, or put another allowed version first on the PATH\n',
  );
  process.exit(2);
}
