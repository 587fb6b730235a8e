/**
 * `npm run bench`: measures plant-store and other servers, each as a ratio to a minimal
 * HTTP server on Node. docs/benchmark.md explains the method and the ratios.
 */
import { compileServers, installPackages } from './build';
import { METHODS, type Pairs, perSecond, rateRatio, poolRounds } from './compare';
import { contestants } from './contestants';
import { has, machineText, placement, spin } from './machine';
import { type Contestant, measure } from './measure';
import { HELP, type Options, readOptions } from './options';
import { type Part, versionsText, writeReport } from './report';
import { flatness } from './sections/flatness';
import { heap, largeList } from './sections/large-list';
import { redis } from './sections/redis';
import type { Conditions } from './session';
import { median } from './statistics';
import { type Row, figureTable, ratioTable, rowsOf, thousands } from './table';

type Section = readonly [heading: string, work: (conditions: Conditions, rounds: number) => Promise<string>];

/** The further sections, by name. */
const SECTIONS: Readonly<Record<string, Section>> = {
  flatness: ['Flatness', flatness],
  'large-list': [
    'Large list',
    async (conditions) => `${await largeList(conditions)}\n\n${await heap(conditions)}`,
  ],
  redis: [
    'Redis',
    async (conditions, rounds) =>
      has('redis-server') ? redis(conditions, rounds) : 'Not measured: there is no redis-server on the PATH.',
  ],
};

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  if (options.help) {
    console.log(HELP);
    return;
  }
  const { contestants: chosen, sections } = choose(options);
  const generator = options.generator ?? (has('wrk') ? 'wrk' : 'autocannon');
  installPackages();
  compileServers();

  const conditions: Conditions = { ...options, generator, placement: placement() };
  console.log(`${machineText()}\n${conditionsText(conditions, options)}`);
  const stopSpinning = options.spin ? spin() : undefined;
  const compared = await allCompared(chosen, options.rounds, conditions);
  const measured: Part[] = [];
  for (const name of sections) {
    const [heading, work] = SECTIONS[name]!;
    // The other figures, which took half an hour, are not lost.
    const failed = (error: unknown) => {
      process.exitCode = 1;
      return `Not measured: ${String(error)}`;
    };
    measured.push([heading, await work(conditions, options.rounds).catch(failed)]);
  }
  stopSpinning?.();

  const rows = rowsOf(chosen, compared);
  const parts = rows.length > 0 ? [...tables(rows), ...measured] : measured;
  console.log(`\n${parts.map(([heading, text]) => `${heading}\n\n${text}`).join('\n\n')}`);
  if (!options.write) return;
  const date = new Date().toISOString().slice(0, 10);
  const about = [machineText(), conditionsText(conditions, options), versionsText()];
  writeReport(options.into, { date, about, parts }, rows);
}

function tables(rows: readonly Row[]): Part[] {
  return [
    ['To a bare server', `![The table as bars](benchmark.svg)\n\n${ratioTable(rows)}`],
    ['As measured', figureTable(rows)],
  ];
}

/** The named servers and sections; by default all servers and, in a full run, all sections. Bare is always included. */
function choose({ only, quick }: Options): { contestants: Contestant[]; sections: string[] } {
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
  const bare = contestants().find(({ name }) => name === 'bare')!;
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

function conditionsText({ generator, placement: { server, load } }: Conditions, options: Options): string {
  const cores =
    server === undefined ? 'not pinned' : `the server on core ${server}, the load on ${String(load)}`;
  const times = `${options.rounds} rounds of ${options.slices} × ${options.seconds} s, in turns with bare, after ${options.warmUpSeconds} s`;
  return `${generator}, ${times}; ${cores}${options.spin ? '; idle cores kept awake' : ''}`;
}

// By `exit`, whose handlers end all started processes.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
