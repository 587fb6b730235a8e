/** The checks of a soak, and its picture and figures for the page. */
import type { Panel } from '../../../bench/plot';
import { markdown, thousands } from '../../../bench/table';
import { timeSeries } from '../../../bench/time-series';
import { goalSlack } from '../../support/goal-slack';
import { overcommitment } from '../../support/patience';
import { type Tolerance, judge, settled } from './flatness';
import type { SoakSample, Soak } from './soak';

export interface SoakCheck {
  readonly title: string;
  readonly passed: boolean;
  /** What was found. */
  readonly finding: string;
}

interface Figure {
  readonly title: string;
  readonly of: (sample: SoakSample) => number;
  readonly format: (value: number) => string;
  /** Absent: {@link LATENCY}, times the slack. */
  readonly tolerance?: Tolerance;
}

const MIB = 2 ** 20;
const inMib = (bytes: number) => `${(bytes / MIB).toFixed(2)} MiB`;
const inMs = (ms: number) => `${ms.toFixed(1)} ms`;
const count = (value: number) => String(Math.round(value));
const OPEN: Tolerance = { share: 0.05, absolute: 5 };

const LATENCY: Tolerance = { share: 0.5, absolute: 5 };

const FLAT: readonly Figure[] = [
  {
    title: 'heap',
    of: ({ heap }) => heap,
    format: inMib,
    tolerance: { share: 0.05, absolute: 2 * MIB },
  },
  {
    title: 'external memory',
    of: ({ external }) => external,
    format: inMib,
    tolerance: { share: 0.1, absolute: 2 * MIB },
  },
  {
    title: 'resident memory',
    of: ({ resident }) => resident,
    format: inMib,
    tolerance: { share: 0.1, absolute: 8 * MIB },
  },
  { title: 'file descriptors', of: ({ descriptors }) => descriptors, format: count, tolerance: OPEN },
  { title: 'handles of the event loop', of: ({ handles }) => handles, format: count, tolerance: OPEN },
  {
    title: 'buffers of clients in Redis',
    of: ({ redisClients }) => redisClients,
    format: inMib,
    tolerance: { share: 0.1, absolute: MIB },
  },
  { title: 'p50', of: ({ succeeded }) => succeeded.p50, format: inMs },
  { title: 'p99', of: ({ succeeded }) => succeeded.p99, format: inMs },
  { title: 'p99 of the event loop delay', of: ({ loopDelayP99 }) => loopDelayP99, format: inMs },
];

/** Other work on the machine changes latencies, but no memory. */
const latencySlack = () => goalSlack * overcommitment();

/** One row for each figure that must stay flat: its value at the start, growth and tolerance as text. */
function flatness({ samples }: Soak, slack: number) {
  const latency = { share: LATENCY.share * slack, absolute: LATENCY.absolute * slack };
  return FLAT.map(({ title, of, format, tolerance = latency }) => {
    const { start, growth, allowed, flat } = judge(settled(samples).map(of), tolerance);
    return { title, flat, cells: [format(start), format(growth), format(allowed)] as const };
  });
}

/** @param slack factor by which latencies may miss their goal. */
export function checksOf(soak: Soak, slack = latencySlack()): SoakCheck[] {
  const { samples, rate, windowSeconds, cacheMaxPlants } = soak;
  const failures = samples.flatMap((sample) => Object.entries(sample.failures));
  const answered = samples.reduce((sum, { succeeded }) => sum + succeeded.count, 0);
  const perSecond = answered / (samples.length * windowSeconds);
  const evictions = Math.min(...samples.map(({ evictionsPerSecond }) => evictionsPerSecond));
  const plants = Math.max(...samples.map((sample) => sample.plants));
  return [
    {
      title: 'no request fails',
      passed: failures.length === 0,
      finding: failures.map(([reason, times]) => `${times} × ${reason}`).join(', ') || 'none',
    },
    {
      title: 'the service keeps the rate',
      passed: perSecond >= 0.95 * rate,
      finding: `${Math.round(perSecond)} of ${Math.round(rate)} requests a second`,
    },
    {
      title: 'the service evicts in every window',
      passed: evictions > 0,
      finding: `at least ${evictions.toFixed(1)} a second`,
    },
    {
      title: 'plants in memory stay within the bound',
      passed: plants <= cacheMaxPlants,
      finding: `at most ${plants} of ${cacheMaxPlants}`,
    },
    ...flatness(soak, slack).map(({ title, flat, cells: [start, growth, allowed] }) => ({
      title: `flat ${title}`,
      passed: flat,
      finding: `${start} at the start, growth ${growth}, tolerated ${allowed}`,
    })),
  ];
}

export const PICTURE = 'soak.svg';

/** @param about sentences about date and machine, without full stops. */
export function reportOf(soak: Soak, about: readonly string[]): { text: string; picture: string } {
  const { samples, rate, capacity, cpuShare } = soak;
  const [first, last] = [samples[0]!, samples.at(-1)!];
  const minutes = Math.round(last.minute * 10) / 10;
  const title = `${minutes} minutes at ${thousands(rate)} requests a second`;
  const share = cpuShare === undefined ? '' : `, with ${Math.round(100 * cpuShare)} % of a core`;
  const sentences = [
    ...about,
    `At full speed the service answered at least ${thousands(capacity)} requests a second${share}`,
    `The soak had ${thousands(rate)} a second for ${minutes} minutes`,
    `The data in Redis grew by ${inMib(last.redisMemory - first.redisMemory)}, because events are never deleted`,
  ];
  const rows = flatness(soak, latencySlack()).map((row) => [row.title, ...row.cells]);
  const table = markdown(['', 'after the warm-up', 'growth until the end', 'tolerated'], rows);
  const times = samples.map(({ minute }) => minute);
  return {
    text: `${sentences.join('. ')}.\n\n![${title}](${PICTURE})\n\n${table}`,
    picture: timeSeries(title, times, panelsOf(samples)),
  };
}

function panelsOf(samples: readonly SoakSample[]): Panel[] {
  const line = (title: string, of: (sample: SoakSample) => number) => ({ title, values: samples.map(of) });
  return [
    {
      title: 'Memory, in MiB',
      lines: [line('heap', ({ heap }) => heap / MIB), line('resident', ({ resident }) => resident / MIB)],
    },
    { title: 'Open', lines: [line('file descriptors', ({ descriptors }) => descriptors)] },
    {
      title: 'Latency, in ms',
      lines: [line('p50', ({ succeeded }) => succeeded.p50), line('p99', ({ succeeded }) => succeeded.p99)],
    },
    {
      title: 'Users evicted a second',
      lines: [line('evictions', ({ evictionsPerSecond }) => evictionsPerSecond)],
    },
  ];
}
