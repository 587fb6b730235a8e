import { availableParallelism } from 'node:os';
import { expect } from 'chai';
import { goalSlack } from '../../support/goal-slack';
import { overcommitment } from '../../support/patience';
import { LONG, SEED } from './service';
import type { GroupFigures, Latencies } from './workload';

type FigureRow = Readonly<Record<string, unknown>>;

/** Prints the figures of each test of the suite whose body calls this: always in a long run, otherwise if the test failed. */
export function reportFigures(): (title: string, rows: readonly (GroupFigures | FigureRow)[]) => void {
  const tables: { readonly title: string; readonly rows: readonly FigureRow[] }[] = [];
  afterEach(function () {
    const wanted = LONG || this.currentTest?.state === 'failed';
    for (const { title, rows } of tables.splice(0)) {
      if (!wanted) continue;
      console.log(`\n${title}; seed ${SEED}`);
      console.table(rows);
    }
  });
  return (title, rows) =>
    tables.push({ title, rows: rows.map((row) => (isGroup(row) ? groupRow(row) : row)) });
}

/** A figure and its bounds. An absent figure misses every bound. */
export interface Goal {
  readonly what: string;
  readonly is: number | undefined;
  readonly atLeast?: number;
  readonly atMost?: number;
  /** A time, whose bound grows with the load of the machine. */
  readonly latency?: boolean;
}

/** On fewer than four cores, clients, Redis and service also delay each other. */
const CORES_SLACK = availableParallelism() < 4 ? 3 : 1;

/** Fails with all goals that were missed, not only the first. */
export function expectGoals(...goals: readonly Goal[]): void {
  const latencySlack = Math.max(CORES_SLACK, overcommitment());
  const missed = goals.filter(
    ({ is = NaN, atLeast = -Infinity, atMost = Infinity, latency }) =>
      !(is >= atLeast && is <= atMost * goalSlack * (latency ? latencySlack : 1)),
  );
  expect(missed, 'goals that were missed').to.deep.equal([]);
}

export function seconds(ms: number | undefined): string {
  return ms === undefined ? 'never' : `${(ms / 1000).toFixed(1)} s`;
}

export function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(0)} MiB`;
}

function isGroup(row: GroupFigures | FigureRow): row is GroupFigures {
  return 'outcomes' in row && 'succeeded' in row;
}

function groupRow({
  name,
  requests,
  users,
  served,
  allServedMs,
  outcomes,
  succeeded,
  failed,
}: GroupFigures): FigureRow {
  return {
    group: name,
    requests,
    served: `${served}/${users}`,
    'all served': seconds(allServedMs),
    outcomes: Object.entries(outcomes)
      .map(([outcome, count]) => `${outcome}: ${count}`)
      .join(', '),
    'p50/p99/max of successes': times(succeeded),
    'of failures': times(failed),
  };
}

function times({ count, p50, p99, max }: Latencies): string {
  return count === 0 ? '–' : `${[p50, p99, max].map((ms) => ms.toFixed(ms < 10 ? 1 : 0)).join(' / ')} ms`;
}
