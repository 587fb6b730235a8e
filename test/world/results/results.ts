/** What the runs of the scenarios found: kept in JSON files beside this one, and shown in docs/reliability.md. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServersReport } from '../on-servers';

/** All runs of a scenario by one command. */
export interface RunResult {
  readonly conditions: string;
  readonly seeds: readonly number[];
  /** By kind: how often, and the longest of each time in ms; `null` for what did not happen in time. */
  readonly faults: Readonly<Record<string, FaultResult>>;
  readonly requests: number;
  readonly acknowledged: number;
  readonly lost: number;
  readonly noticed: number;
  readonly writtenTwice: number;
  readonly staleLists: number;
  readonly violations: number;
}

export interface FaultResult {
  readonly count: number;
  readonly times: Readonly<Record<string, number | null>>;
}

/** From the recovery of Redis until each instance served each user. */
export const SERVED = 'served again';
/** The longest time of one user without an acknowledged write. */
export const OUTAGE = 'without service';

export function resultOf(reports: readonly ServersReport[], conditions: string): RunResult {
  const sum = (of: (report: ServersReport) => number) =>
    reports.reduce((total, report) => total + of(report), 0);
  const faults: Record<string, { count: number; times: Record<string, number> }> = {};
  for (const { fault, servedMs, outages, times } of reports.flatMap(({ steps }) => steps)) {
    const found = (faults[fault] ??= { count: 0, times: {} });
    found.count += 1;
    const measured = { ...times, [SERVED]: servedMs, [OUTAGE]: Math.max(...Object.values(outages)) };
    for (const [name, ms] of Object.entries(measured))
      found.times[name] = Math.max(found.times[name] ?? 0, Math.round(ms));
  }
  return {
    conditions,
    seeds: reports.map(({ seed }) => seed),
    faults,
    requests: sum(({ requests }) => requests),
    acknowledged: sum(({ acknowledged }) => acknowledged),
    lost: sum(({ lost }) => lost),
    noticed: sum(({ noticed }) => noticed),
    writtenTwice: sum(({ writtenTwice }) => writtenTwice),
    staleLists: sum(({ staleLists }) => staleLists),
    violations: sum(({ violations }) => violations.length),
  };
}

/** @param name `runs`, or another JSON file of this folder. */
export function readResults(name: string): unknown {
  return JSON.parse(readFileSync(fileOf(name), 'utf8'));
}

/** Replaces the results of these scenarios. */
export function writeRuns(results: Readonly<Record<string, RunResult>>): void {
  const all = { ...(readResults('runs') as Readonly<Record<string, RunResult>>), ...results };
  const sorted = Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1));
  // A scenario on each line: a run changes few lines.
  const lines = sorted.map(([name, result]) => `  ${JSON.stringify(name)}: ${JSON.stringify(result)}`);
  writeFileSync(fileOf('runs'), `{\n${lines.join(',\n')}\n}\n`);
}

/** The last run of a simulator, as the page shows it. */
export interface RecordedSimulation {
  readonly simulation: string;
  readonly date: string;
  readonly seeds: string;
  readonly schedules: number;
  readonly violations: number;
}

/** Replaces the last run of this simulator. */
export function writeSimulation(run: RecordedSimulation): void {
  const others = (readResults('simulations') as readonly RecordedSimulation[]).filter(
    ({ simulation }) => simulation !== run.simulation,
  );
  const sorted = [...others, run].sort((a, b) => (a.simulation < b.simulation ? -1 : 1));
  writeFileSync(fileOf('simulations'), `${JSON.stringify(sorted, undefined, 2)}\n`);
}

function fileOf(name: string): string {
  return join(__dirname, `${name}.json`);
}
