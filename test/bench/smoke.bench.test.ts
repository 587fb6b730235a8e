/** `npm run test:bench`: tests that the benchmark works. Its figures, of a fraction of a second, mean nothing. */
import { expect } from 'chai';
import { execFile, execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { compileServers, installPackages } from '../../bench/build';
import { contestantOf, contestants } from '../../bench/contestants';
import type { Generator } from '../../bench/load';
import { has, placement } from '../../bench/machine';
import { allStarted } from '../../bench/measure';
import { growth } from '../../bench/sections/growth';
import { largeList } from '../../bench/sections/large-list';
import { latency } from '../../bench/sections/latency';
import { latencyByLoad } from '../../bench/sections/latency-by-load';
import { log } from '../../bench/sections/log';
import { earlier, peers } from '../../bench/sections/peers';
import { profile } from '../../bench/sections/profile';
import { stores } from '../../bench/sections/stores';
import { tracing } from '../../bench/sections/tracing';
import type { Conditions } from '../../bench/session';
import { compiledMain } from '../support/compiled';

const run = promisify(execFile);

describe('npm run bench', function () {
  // Each; all of them take five minutes on an idle machine.
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
    const all = contestants().filter(({ redis }) => !redis || has('redis-server'));
    const names = all.map(({ name }) => name).join(',');
    const printed = await bench('node', '--only', names, '--into', directory);
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
    expect(await bench('wrk', '--only', 'koa,plant-store-warn')).to.match(
      /\| plant-store, log level `warn` \| \d/,
    );
  });

  it('lists the servers if the name of one is unknown', async () => {
    const failure = await bench('wrk', '--only', 'unknown').then(String, (error: unknown) => String(error));
    expect(failure).to.contain('there is no unknown; there are plant-store, ');
  });

  describe('in its further sections', () => {
    const conditions: Conditions = {
      generator: 'node',
      placement: placement(),
      warmUpSeconds: 0,
      settleSeconds: 0.2,
      slices: 1,
      seconds: 0.2,
    };

    it('compares the service with a log and without', async () => {
      expect((await log(conditions, 1)).text).to.match(/\| DELETE \| [\d.]+ \| /);
    });

    it('measures what an OpenTelemetry SDK adds', async () => {
      expect((await tracing(conditions, 1)).text).to.match(
        /\| all are sampled( \| -?[\d.]+ \(-?[\d.]+ to -?[\d.]+\)){3} \|/,
      );
    });

    it('compares the service on Redis with those written by hand, with one user and several', async function () {
      if (!has('redis-server')) return this.skip();
      const { text } = await peers(conditions, 1, [1, 3]);
      expect(
        text.match(
          /^\| (Koa|Fastify)[^|]* (one user|3 users)( \| [\d.]+ \([\d.–]+\), [\d.]+, [\d.]+){3} \|$/gm,
        ),
      ).to.have.length(4);
      expect(text).to.match(
        /^\| Koa[^|]*fixed answers, and plant-store in memory( \| [\d.]+ \([\d.–]+\), [\d.]+, [\d.]+){3} \|$/m,
      );
      expect(
        text.match(
          /^\| the least, compared with [^|]* 3 users( \| [\d.]+ \([\d.–]+\), [\d.]+, [\d.]+){3} \|$/gm,
        ),
      ).to.have.length(2);
    });

    it('compares the service with an earlier version', async function () {
      if (!has('redis-server')) return this.skip();
      const { text } = await earlier(compiledMain(), conditions, 1, [1, 3]);
      expect(
        text.match(
          /^\| earlier plant-store [^|]* (one user|3 users)( \| [\d.]+ \([\d.–]+\), [\d.]+, [\d.]+){3} \|$/gm,
        ),
      ).to.have.length(4);
    });

    it('divides the processor time of a request among the parts of the program', async function () {
      if (!has('redis-server')) return this.skip();
      const { text } = await profile(conditions, 3);
      expect(text).to.match(/^\| HTTP in Node( \| \d+\.\d){9} \|$/m);
      // Of the service only; the others have their own.
      expect(text).to.match(/^\| HTTP adapter( \| [1-9]\d*\.\d){3}( \| 0\.0){6} \|$/m);
    });

    it('measures appends beside raw XADD, and replays', async function () {
      if (!has('redis-server')) return this.skip();
      const { text } = await stores(conditions, 2_000);
      expect(text)
        .to.match(/\| appends to Redis[^|]* \| [\d.]+ \([\d.]+–[\d.]+\) \|/)
        .and.to.match(
          /\| events replayed from Redis[^|]* \| [\d,]+ \|\n\| events replayed in memory[^|]* \| [\d,]+ \|/,
        );
    });

    it('runs only the server that is measured', async function () {
      if (process.platform !== 'linux') return this.skip();
      const paused = () => {
        const states = execFileSync('ps', ['-o', 'stat=', '--ppid', String(process.pid)], {
          encoding: 'utf8',
        });
        return states.split('\n').filter((state) => state.startsWith('T')).length;
      };
      const chosen = ['bare', 'koa-fixed', 'fastify'].map(contestantOf);
      await allStarted(chosen, conditions, async (sessions) => {
        for (const session of sessions)
          await session.resumed(async () => {
            expect((await session.slice('GET')).requests).to.be.above(0);
            expect(paused()).to.equal(2);
          });
      });
    });

    it('measures latencies at a constant rate, and plots them', async function () {
      if (!has('redis-server')) return this.skip();
      const { text, files } = await latency(conditions, 2, 0.2);
      expect(text)
        .to.match(
          /\| plant-store on Redis[^|]*\| [\d,]+, (0\.\d[1-9]|0\.[1-9]\d|1\.0\d), [\d.]+, [\d.]+, [\d.]+ \|/,
        )
        .and.to.match(/\| plant-store on Redis[^|]*( \| [\d.]+ \([\d.]+–[\d.]+\)){6} \|/);
      expect(files!['benchmark-latency.svg']).to.match(/<polyline[^>]*points="[\d., ]+"/);
      const row = (title: string) => text.split('\n').find((line) => line.startsWith(`| ${title}`))!;
      const rates = (title: string) => [...row(title).matchAll(/\| ([\d,]+), /g)].map(([, rate]) => rate);
      expect(rates('bare `node:http`, which waits')).to.deep.equal(rates('plant-store on Redis'));
    });

    it('measures latencies at several shares of the capacity, and writes their histograms', async function () {
      if (!has('redis-server')) return this.skip();
      const { text, files } = await latencyByLoad(conditions, 1, 0.5);
      expect(text).to.match(/\| plant-store on Redis[^|]*, POST( \| [\d,]+: [\d.]+, [\d.]+, [\d.]+){2}/);
      expect(files!['benchmark-latency-by-load.svg']).to.match(/<polyline[^>]*points="[\d., ]+"/);
      const [head, ...rows] = files!['benchmark-latency-by-load.csv']!.trim().split('\n');
      expect(head).to.equal('server,method,share,requests_per_second,latency_ms,requests');
      const half = rows.filter((row) => row.startsWith('plant-store-redis,POST,0.5,'));
      const [perSecond] = half.map((row) => Number(row.split(',')[3]));
      const requests = half.reduce((sum, row) => sum + Number(row.split(',')[5]), 0);
      expect(requests).to.be.within(perSecond! * 0.5 - 5, perSecond! * 0.5 + 5);
    });

    it('measures the cost of requests as users and plants grow', async function () {
      if (!has('redis-server')) return this.skip();
      const { text, files } = await growth(conditions, [1, 70], [5, 2_000]);
      expect(text)
        .to.match(/\| 70 \|( [\d.]+ \|){6}\n/)
        .and.to.match(/\| 2,000 \|( [\d.]+ \|){6}/);
      expect(Object.keys(files!)).to.deep.equal(['benchmark-users.svg', 'benchmark-plants.svg']);
    });

    it('measures a large list, and the memory of plants', async () => {
      const { text } = await largeList(conditions, 5_000, 20_000);
      expect(text).to.match(/\| after a write, including it \| [\d.]+ \| [\d.]+ \|/);
      expect(text).to.match(/takes [1-9]\d+ bytes/);
    });
  });
});
