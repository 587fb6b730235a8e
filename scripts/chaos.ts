/**
 * `npm run chaos`: breaks real processes at random, and checks the promises of the pages (test/chaos).
 *
 *     npm run chaos -- --minutes 20                      with Sentinels and in a Cluster, in turns
 *     npm run chaos -- --minutes 5 --topology cluster    only in a Cluster
 *     npm run chaos -- --minutes 5 --seed 7              the faults of this seed: their order, places and durations
 *     npm run chaos -- --minutes 20 --write              and writes the figures into docs/operations.md
 *
 * A seed repeats the faults, but not the interleaving of the processes. Prints a line for each fault, and exits with 1
 * if a promise was broken.
 */
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { markdown } from '../bench/table';
import { type DoneStep, type EpisodeReport, runEpisode } from '../test/chaos/episode';
import { conditionsText, writeFigures } from './page-figures';

const TOPOLOGIES = ['sentinel', 'cluster'] as const;
/** An episode longer than this has no further kinds of faults. */
const EPISODE_MS = 5 * 60_000;
const EXCERPT = 4000;
const seconds = (ms: number) => (ms / 1000).toFixed(1);

function describeViolations({ seed, topology, steps, violations, history }: EpisodeReport): string {
  const file = join(tmpdir(), `plant-store-chaos-${seed}.json`);
  writeFileSync(file, JSON.stringify(history, undefined, 1));
  const schedule = steps.map(
    ({ fault, from, to, lastsMs, roll }) =>
      `  ${Math.round(from)}–${Math.round(to)} ms: ${fault} (${Math.round(lastsMs)} ms, ${roll.toFixed(3)})`,
  );
  const shown = violations.slice(0, 10).map((violation) => `- ${violation.slice(0, EXCERPT)}`);
  const title = `VIOLATED (seed ${seed}, ${topology}), ${violations.length} times:`;
  return [title, ...shown, 'the faults:', ...schedule, `the whole history: ${file}`].join('\n');
}

function figures(reports: readonly EpisodeReport[]): string {
  const all = reports.flatMap((report) =>
    report.steps.map((step) => ({ ...step, cluster: report.topology === 'cluster' })),
  );
  const longest = (steps: readonly DoneStep[]) => seconds(Math.max(...steps.map(({ servedMs }) => servedMs)));
  const rows = [...new Set(all.map(({ fault }) => fault))].sort().map((fault) => {
    const cells = [false, true].flatMap((cluster) => {
      const steps = all.filter((step) => step.fault === fault && step.cluster === cluster);
      return steps.length === 0 ? ['–', '–'] : [steps.length, `${longest(steps)} s`];
    });
    return [fault, ...cells];
  });
  return markdown(['fault', 'with Sentinels', 'served after', 'in a Cluster', 'served after'], rows, '---');
}

function sumText(reports: readonly EpisodeReport[]): string {
  const sum = (of: (report: EpisodeReport) => number) =>
    reports.reduce((total, report) => total + of(report), 0);
  return (
    `${sum(({ steps }) => steps.length)} faults, ${sum(({ requests }) => requests)} requests, ` +
    `${sum(({ acknowledged }) => acknowledged)} acknowledged writes, ${sum(({ lost }) => lost)} of them lost ` +
    'by a failover without `WAIT` or by a restore'
  );
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '1' },
      topology: { type: 'string', default: 'all' },
      seed: { type: 'string' },
      write: { type: 'boolean', default: false },
    },
  });
  const minutes = Number(values.minutes);
  if (!(minutes > 0)) throw new RangeError(`--minutes must be a number above 0, not ${values.minutes}`);
  const topologies = TOPOLOGIES.filter((name) => values.topology === 'all' || values.topology === name);
  if (topologies.length === 0) throw new RangeError(`--topology must be all or ${TOPOLOGIES.join(' or ')}`);
  const first = values.seed === undefined ? Date.now() % 2 ** 31 : Number(values.seed);

  const begin = performance.now();
  const end = begin + minutes * 60_000;
  const share = Math.min(EPISODE_MS, (end - begin) / topologies.length);
  // Keeps the process alive, because the servers alone do not.
  const awake = setInterval(() => {}, 1000);
  const reports: EpisodeReport[] = [];
  for (let count = 0; count < topologies.length || performance.now() < end; count++) {
    const seed = first + Math.floor(count / topologies.length);
    const topology = topologies[count % topologies.length]!;
    const report = await runEpisode({
      topology,
      seed,
      endsAt: Math.min(end, performance.now() + share),
      progress: (steps, next) => {
        const [last] = steps.slice(-1);
        const done = last === undefined ? '' : `, served ${seconds(last.servedMs)} s after ${last.fault}`;
        console.log(
          `${seconds(performance.now() - begin)} s: seed ${seed}, ${topology}${done}; next: ${next}`,
        );
      },
    });
    reports.push(report);
    if (report.violations.length === 0) continue;
    console.log(describeViolations(report));
    break;
  }
  clearInterval(awake);
  const failed = reports.filter(({ violations }) => violations.length > 0).length;
  const text = `${conditionsText(`three instances, ${minutes} minutes`)}: ${sumText(reports)}.\n\n${figures(reports)}`;
  console.log(`\n${text}\n`);
  if (values.write && failed === 0) writeFigures('docs/operations.md', 'chaos', text);
  console.log(`${reports.length - failed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
