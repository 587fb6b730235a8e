/** The parts of docs/reliability.md that show what was found: results of runs, never written by hand. */
import { markdown, thousands } from '../bench/table';
import { MUTANTS } from '../test/mutants/mutants';
import { OUTAGE, type RunResult, SERVED, readResults } from '../test/world/results/results';
import { SCENARIOS } from '../test/world/scenarios';

type Runs = Readonly<Record<string, RunResult>>;
type Row = readonly unknown[];

const table = (head: readonly string[], rows: readonly Row[]) => markdown(head, rows, '---');
const seconds = (ms: number | null | undefined) =>
  ms === undefined ? '' : ms === null ? 'never' : `${(ms / 1000).toFixed(1)} s`;
const isMeasured = (name: string) => SCENARIOS[name]?.cell !== undefined;

export function runsTable(runs: Runs): string {
  const row = (name: string, results: readonly RunResult[]): Row => {
    const sum = (of: (result: RunResult) => number) =>
      results.reduce((total, result) => total + of(result), 0);
    const faults = sum(({ faults }) => Object.values(faults).reduce((total, { count }) => total + count, 0));
    return [
      name,
      results.flatMap(({ seeds }) => seeds).length,
      faults,
      thousands(sum(({ requests }) => requests)),
      thousands(sum(({ acknowledged }) => acknowledged)),
      thousands(sum(({ lost }) => lost)),
      thousands(sum(({ noticed }) => noticed)),
      sum(({ writtenTwice }) => writtenTwice),
      sum(({ staleLists }) => staleLists),
      sum(({ violations }) => violations),
    ];
  };
  const named = Object.entries(runs).filter(([name]) => !isMeasured(name));
  const rows = named.map(([name, result]) => row(name, [result]));
  const measured = Object.entries(runs).filter(([name]) => isMeasured(name));
  if (measured.length > 0)
    rows.push(
      row(
        'durability, below',
        measured.map(([, result]) => result),
      ),
    );
  const head = ['scenario', 'seeds', 'faults', 'requests', 'acknowledged writes', 'lost', 'lost and noticed'];
  return table([...head, 'written twice', 'stale lists', 'broken promises'], rows);
}

function conditions(runs: Runs): string {
  const load = / with a load of (\d+)/;
  const texts = Object.values(runs).map((result) => result.conditions);
  const loads = texts.map((text) => Number(load.exec(text)?.[1] ?? 0));
  const places = [...new Set(texts.map((text) => text.replace(load, '')))].sort();
  return places.length === 0
    ? ''
    : `${places.join('. ')}. Load of the machine: ${Math.min(...loads)} to ${Math.max(...loads)}.`;
}

function faultsTable(runs: Runs): string {
  const chaos = Object.entries(runs).filter(([name]) => name.startsWith('chaos '));
  const faults = [...new Set(chaos.flatMap(([, result]) => Object.keys(result.faults)))].sort();
  const rows = faults.map((fault) => [
    fault,
    ...chaos.flatMap(([, result]) => {
      const found = result.faults[fault];
      return [found?.count ?? '', seconds(found?.times[SERVED])];
    }),
  ]);
  return table(['fault', ...chaos.flatMap(([name]) => [name, SERVED])], rows);
}

export function timesTable(runs: Runs): string {
  const others = Object.entries(runs).filter(([name]) => !name.startsWith('chaos ') && !isMeasured(name));
  const times = new Set(
    others.flatMap(([, { faults }]) => Object.values(faults).flatMap((each) => Object.keys(each.times))),
  );
  times.delete(SERVED);
  const rows = others.flatMap(([name, { faults }]) =>
    Object.entries(faults).map(([fault, found]) => [
      name,
      fault,
      found.count,
      ...[...times].map((time) => seconds(found.times[time])),
    ]),
  );
  return table(['scenario', 'fault', 'times', ...times], rows);
}

export function durabilityTable(runs: Runs): string {
  const cells = Object.entries(SCENARIOS).flatMap(([name, { cell }]) =>
    cell === undefined ? [] : [{ ...cell, result: runs[name] }],
  );
  const columns = [...new Set(cells.map(({ fault }) => fault))];
  const lines = [...new Set(cells.map(({ fsync, wait }) => `${fsync} ${wait}`))].sort();
  const rows = lines.map((line) => [
    ...line.split(' ').map((text) => `\`${text}\``),
    ...columns.map((column) => {
      const result = cells.find(
        (each) => each.fault === column && `${each.fsync} ${each.wait}` === line,
      )?.result;
      if (result === undefined) return '';
      const outage = Math.max(...Object.values(result.faults).map(({ times }) => times[OUTAGE] ?? Infinity));
      const lost =
        result.lost === 0 ? '0' : `**${thousands(result.lost)}** (${thousands(result.noticed)} noticed)`;
      return `${lost} of ${thousands(result.acknowledged)}, ${seconds(outage)}`;
    }),
  ]);
  return table(['`appendfsync`', '`REDIS_WAIT_REPLICAS`', ...columns], rows);
}

/** A table of a JSON file with objects, whose members are the columns. */
function rowsTable(name: string, columns: readonly string[]): string {
  const rows = readResults(name) as readonly Readonly<Record<string, unknown>>[];
  return table(
    columns,
    rows.map((row) => columns.map((column) => row[column] ?? '')),
  );
}

function plantedTable(): string {
  const rows = MUTANTS.filter(({ file }) => !/^src\/(?!event-sourcing|adapters\/redis)/.test(file)).map(
    ({ fault, simulation, seed, test }) =>
      simulation
        ? [fault, `${simulation} schedules`, seed]
        : [fault, `\`${test!.file}\`: ${test!.title}`, ''],
  );
  return table(['fault', 'found by', 'after schedules'], rows);
}

/** The generated places of docs/reliability.md. */
export function reliability(): Readonly<Record<string, string>> {
  const runs = readResults('runs') as Runs;
  return {
    runs: runsTable(runs),
    conditions: conditions(runs),
    faults: faultsTable(runs),
    times: timesTable(runs),
    durability: durabilityTable(runs),
    simulations: rowsTable('simulations', ['simulation', 'date', 'seeds', 'schedules', 'violations']),
    planted: plantedTable(),
    defects: rowsTable('defects', ['defect', 'cause', 'found by', 'shown by']),
  };
}
