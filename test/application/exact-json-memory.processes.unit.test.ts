import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'chai';
import { compiled } from '../support/compiled';

describe('The value of a JSON text', () => {
  it('does not keep the text in memory', function () {
    this.slow(10_000);
    const kept = execFileSync(process.execPath, ['--expose-gc', '-e', KEEP_NAMES], {
      cwd: join(compiled(), 'dist'),
      encoding: 'utf8',
    });
    // 2,000 texts of 60 KiB are 117 MiB.
    expect(Number(kept) / 2 ** 20).to.be.below(4);
  });
});

/** Keeps the plants of 2,000 long bodies, and prints the growth of the heap in bytes. */
const KEEP_NAMES = `
  const { parseJson } = require('./application');
  const { newPlantFrom } = require('./adapters/http/app/new-plant');
  const rest = 'x'.repeat(60 * 1024);
  const bodyOf = (id) =>
    Buffer.from(JSON.stringify({ id, name: 'a name ' + String(id).padStart(13), tag: 'short ' + id, rest }));
  newPlantFrom(parseJson(bodyOf(0)));
  gc();
  const before = process.memoryUsage().heapUsed;
  const plants = [];
  for (let id = 1; id <= 2000; id++) plants.push(newPlantFrom(parseJson(bodyOf(id))));
  gc();
  console.log(process.memoryUsage().heapUsed - before);
`;
