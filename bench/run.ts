/**
 * `npm run bench`: measures plant-store and other servers, each as a ratio to a minimal
 * HTTP server on Node. docs/benchmark.md explains the method and the ratios.
 */
import { compileServers, installPackages } from './build';
import { chart } from './chart';
import { METHODS, type Pairs, perSecond, rateRatio, poolRounds } from './compare';
import { contestantOf, contestants } from './contestants';
import { has, machineText, placement } from './machine';
import { type Contestant, measure } from './measure';
import { HELP, type BenchmarkOptions, readOptions } from './options';
import { type Section, versionsText, writeReport } from './report';
import { growth } from './sections/growth';
import { largeList } from './sections/large-list';
import { latency } from './sections/latency';
import { latencyByLoad } from './sections/latency-by-load';
import { log } from './sections/log';
import { earlier, peers } from './sections/peers';
import { profile } from './sections/profile';
import { stores } from './sections/stores';
import { tracing } from './sections/tracing';
import type { Conditions } from './session';
import { median } from './statistics';
import { type TableRow, figureTable, ratioTable, rowsOf, thousands } from './table';

type Measure = (conditions: Conditions, rounds: number) => Promise<Section>;

/** The further sections, by name. */
const SECTIONS: Readonly<Record<string, readonly [heading: string, measure: Measure]>> = {
  peers: ['Written by hand', (conditions, rounds) => peers(conditions, rounds)],
  profile: ['What a request consists of', (conditions) => profile(conditions)],
  stores: ['The stores alone', (conditions) => stores(conditions)],
  log: ['What the log costs', log],
  tracing: ['What tracing costs', tracing],
  latency: ['Latency', (conditions) => latency(conditions)],
  'latency-by-load': ['Latency by load', (conditions) => latencyByLoad(conditions)],
  growth: ['Growth', (conditions) => growth(conditions)],
  'large-list': ['Large list', (conditions) => largeList(conditions)],
};

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  if (options.help) {
    console.log(HELP);
    return;
  }
  const { contestants: chosen, sections } = choose(options);
  const generator = options.generator ?? (has('wrk') ? 'wrk' : 'node');
  installPackages();
  compileServers();

  const conditions: Conditions = { ...options, settleSeconds: 3, generator, placement: placement() };
  console.log(`${machineText()}\n${conditionsText(conditions, options)}`);
  const compared = await allCompared(chosen, options.rounds, conditions);
  const measured: [string, Section][] = [];
  const chosenSections = sections.map((name) => SECTIONS[name]!);
  const { earlier: earlierMain } = options;
  if (earlierMain !== undefined)
    chosenSections.push(['An earlier version', (...given) => earlier(earlierMain, ...given)]);
  for (const [heading, measure] of chosenSections) {
    // The other figures, which took many minutes, are not lost.
    const failed = (error: unknown): Section => {
      process.exitCode = 1;
      return { text: `Not measured: ${String(error)}` };
    };
    measured.push([heading, await measure(conditions, options.rounds).catch(failed)]);
  }

  const rows = rowsOf(chosen, compared);
  const date = new Date().toISOString().slice(0, 10);
  const all = rows.length > 0 ? [...tables(rows, date), ...measured] : measured;
  console.log(`\n${all.map(([heading, { text }]) => `${heading}\n\n${text}`).join('\n\n')}`);
  if (!options.write) return;
  const about = [machineText(), conditionsText(conditions, options), versionsText()];
  writeReport(options.into, { date, about, sections: all });
}

function tables(rows: readonly TableRow[], date: string): [string, Section][] {
  const picture = 'benchmark.svg';
  const ratios = `![The table as bars](${picture})\n\n${ratioTable(rows)}`;
  return [
    ['To a bare server', { text: ratios, files: { [picture]: chart(rows, date) } }],
    ['As measured', { text: figureTable(rows) }],
  ];
}

/** The named servers and sections; by default all servers and, in a full run, all sections. Bare is always included. */
function choose({ only, quick }: BenchmarkOptions): { contestants: Contestant[]; sections: string[] } {
  const all = contestants();
  const names = [...all.map(({ name }) => name), ...Object.keys(SECTIONS)];
  const unknown = only?.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new Error(`there is no ${unknown}; there are ${names.join(', ')}`);
  if (only === undefined) {
    const chosen = all.filter(({ notInQuick }) => !(quick && notInQuick));
    return { contestants: chosen, sections: quick ? [] : Object.keys(SECTIONS) };
  }
  const named = all.filter(({ name }) => only.includes(name));
  return {
    contestants: named.length > 0 ? all.filter(({ name }) => name === 'bare' || only.includes(name)) : [],
    sections: only.filter((name) => name in SECTIONS),
  };
}

/** By name. Each server is compared with a new bare server, because a bare server becomes slower after some minutes. */
async function allCompared(
  chosen: readonly Contestant[],
  rounds: number,
  conditions: Conditions,
): Promise<Map<string, Pairs>> {
  const bare = contestantOf('bare');
  const compared = new Map<string, Pairs>();
  for (let number = 1; number <= rounds; number++) {
    for (const contestant of chosen) {
      const pairs = await measure(contestant, bare, conditions);
      console.log(`round ${number}  ${contestant.name.padEnd(20)}  ${pairsText(pairs)}`);
      const before = compared.get(contestant.name);
      compared.set(contestant.name, before ? poolRounds([before, pairs]) : pairs);
    }
  }
  return compared;
}

function pairsText(pairs: Pairs): string {
  const each = METHODS.map((method) => {
    const rate = thousands(median(pairs[method].map(({ own }) => perSecond(own))));
    return `${method} ${rate}/s ${median(pairs[method].map(rateRatio)).toFixed(2)}`;
  });
  return each.join('   ');
}

function conditionsText(
  { generator, placement: { server, load } }: Conditions,
  options: BenchmarkOptions,
): string {
  const cores =
    server === undefined ? 'not pinned' : `the server on core ${server}, the load on ${String(load)}`;
  const times = `${options.rounds} rounds of ${options.slices} × ${options.seconds} s, in turns with bare, after ${options.warmUpSeconds} s`;
  return `${generator}, ${times}; ${cores}`;
}

// By `exit`, whose handlers end all started processes.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
