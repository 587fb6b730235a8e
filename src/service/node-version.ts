import { readFileSync } from 'node:fs';
import { join } from 'node:path';

// Imported before all else: an older Node fails at the first file with newer syntax or `require` of an ES module.
const { engines } = JSON.parse(readFileSync(join(__dirname, '../../package.json'), 'utf8')) as {
  engines: { node: string };
};
const [major = 0, minor = 0] = numbersOf(engines.node);
const [ownMajor = 0, ownMinor = 0] = numbersOf(process.version);
if (ownMajor < major || (ownMajor === major && ownMinor < minor)) {
  process.stderr.write(
    `plant-store needs Node ${major}.${minor} or newer; this is Node ${process.version.slice(1)}.\n`,
  );
  process.exit(2);
}

function numbersOf(version: string): number[] {
  return version.match(/\d+/g)!.map(Number);
}
