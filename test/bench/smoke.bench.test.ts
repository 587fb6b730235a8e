/** `npm run test:bench`: tests that the benchmark works. Its figures, of a fraction of a second, mean nothing. */
import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { compileServers, installPackages } from '../../bench/build';
import { contestants } from '../../bench/contestants';
import type { Generator } from '../../bench/load';
import { CORES, has, placement, spin } from '../../bench/machine';
import { flatness } from '../../bench/sections/flatness';
import { heap, largeList } from '../../bench/sections/large-list';
import { redis } from '../../bench/sections/redis';
import type { Conditions } from '../../bench/session';
import { until } from '../support/until';

const run = promisify(execFile);

describe('npm run bench', function () {
  // Takes a minute on an idle machine.
  this.timeout(300_000);
  this.slow(300_000);
  let directory: string;

  before(() => {
    installPackages();
    compileServers(true);
    directory = mkdtempSync(join(tmpdir(), 'plant-store-bench-test-'));
    cpSync('docs/benchmark.md', join(directory, 'benchmark.md'));
  });
  after(() => rmSync(directory, { recursive: true }));

  async function bench(generator: Generator, ...options: string[]): Promise<string> {
    const once = '--rounds 1 --slices 1 --seconds 0.1 --warm-up 0'.split(' ');
    const args = ['run', '--silent', 'bench', '--', '--load', generator, ...once, ...options];
    const { stdout } = await run('npm', args);
    return stdout;
  }

  it('starts and measures all servers, and writes page and chart', async () => {
    // One of those that differ only in the length of their streams.
    const all = contestants().filter(({ name }) => !/-10(000)?$/.test(name));
    const names = all.map(({ name }) => name).join(',');
    const printed = await bench('autocannon', '--only', names, '--into', directory);
    const page = readFileSync(join(directory, 'benchmark.md'), 'utf8');
    const chart = readFileSync(join(directory, 'benchmark.svg'), 'utf8');
    for (const { title } of all) {
      expect(printed).to.contain(`\n| ${title} | `);
      expect(page).to.contain(`\n| ${title} | `);
      expect(chart).to.contain(`>${title.replaceAll('`', '')}</text>`);
    }
  });

  it('can use wrk', async function () {
    if (!has('wrk')) return this.skip();
    expect(await bench('wrk', '--only', 'koa,plant-store')).to.match(/\| plant-store, in memory \| \d/);
  });

  it('lists the servers if the name of one is unknown', async () => {
    const failure = await bench('wrk', '--only', 'unknown').then(String, (error: unknown) => String(error));
    expect(failure).to.contain('there is no unknown; there are bare, ');
  });

  it('keeps every core awake until it ends', async function () {
    if (!has('chrt') || !has('taskset')) return this.skip();
    const end = spin();
    try {
      await until(() => spinners() === CORES);
    } finally {
      end();
    }
    await until(() => spinners() === 0);
  });

  describe('in its further sections', () => {
    const conditions: Conditions = {
      generator: 'autocannon',
      placement: placement(),
      warmUpSeconds: 0,
      slices: 1,
      seconds: 0.2,
    };

    it('compares many plants with few', async () => {
      expect(await flatness(conditions, 1, 5_000)).to.match(/\| DELETE \| [\d.]+ \| /);
    });

    it('measures a large list, and the memory of plants', async () => {
      expect(await largeList(conditions, 5_000)).to.match(
        /\| after a write, including it \| [\d.]+ \| [\d.]+ \|/,
      );
      expect(await heap(conditions, 20_000)).to.match(/takes [1-9]\d+ bytes/);
    });

    it('compares Redis with memory', async function () {
      if (!has('redis-server')) return this.skip();
      expect(await redis(conditions, 1)).to.match(
        /\| POST \| [\d.]+ \| [\d.]+ \| [\d.]+ \|[^]* events an append/,
      );
    });
  });
});

/** The number of processes that keep a core awake for this process. */
function spinners(): number {
  const own = `process.ppid === ${process.pid}`;
  const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const all = processes.map(commandLine);
  return all.filter((line) => line.startsWith(process.execPath) && line.includes(own)).length;
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    // It has ended meanwhile.
    return '';
  }
}
