import { readFileSync } from 'node:fs';
import { expect } from 'chai';

const read = (file: string) => readFileSync(file, 'utf8');

describe('The supported versions of SECURITY.md', () => {
  const page = read('SECURITY.md');

  it('are the Node of the manifest, and those that CI tests', () => {
    const [, oldest = '', newer = ''] =
      /\| Node \| ([\d.]+) and newer; tested on \d+, (.*?) \|/.exec(page) ?? [];
    const { engines } = JSON.parse(read('package.json')) as { engines: { node: string } };
    expect(engines.node).to.equal(`>=${oldest}`);
    expect(read('.ci/run')).to.contain(newer.replace(/\D+/g, ' '));
    expect(read('README.md')).to.contain(`also run on Node ${newer}`);
  });

  it('are the servers of docs/operations.md', () => {
    expect(page).to.match(/\| Redis 7 and 8, Valkey 8 \|/);
    expect(read('docs/operations.md')).to.contain('Use Redis 7 or 8, or Valkey 8');
  });
});
