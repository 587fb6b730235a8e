import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

/** The interfaces whose comment begins with `Port:`. */
const PORTS = ['src/application', 'src/event-sourcing/ports'].flatMap((folder) =>
  readdirSync(folder).flatMap((file) =>
    [
      ...readFileSync(join(folder, file), 'utf8').matchAll(
        /\/\*\*\s(?:\s*\*\s)?Port:(?:(?!\*\/)[^])*\*\/\nexport interface (\w+)/g,
      ),
    ].map(([, name]) => name!),
  ),
);

describe('The architecture', () => {
  it('has ports of the application and of the engine', () =>
    expect(PORTS).to.include.members(['Authenticator', 'EventStore', 'Clock']));

  for (const file of ['docs/architecture.md', 'docs/architecture.svg'])
    it(`names every port in ${file}`, () => {
      const text = readFileSync(file, 'utf8').replace(/<desc[^]*<\/desc>/, '');
      const words = new Set(text.match(/\w+/g));
      expect(PORTS.filter((port) => !words.has(port))).to.deep.equal([]);
    });
});
