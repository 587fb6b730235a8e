import { expect } from 'chai';
import { axisEnd } from '../../../bench/time-series';
import { checksOf, reportOf } from './report';
import type { SoakSample, Soak } from './soak';

const MIB = 2 ** 20;

/** A soak of 12 windows of a minute at 100 requests a second, in which nothing changes but what `change` does. */
function soakWith(change: (window: number) => Partial<SoakSample> = () => ({})): Soak {
  const samples = Array.from({ length: 12 }, (_, window) => ({
    ...{ minute: window + 1, succeeded: succeeded(6000), failures: {} },
    ...{ heap: 20 * MIB, external: 3 * MIB, resident: 100 * MIB, descriptors: 50, handles: 40 },
    ...{ loopDelayP99: 12, evictionsPerSecond: 30, plants: 4000 },
    ...{ redisMemory: (20 + window) * MIB, redisClients: 20_000 },
    ...change(window),
  }));
  return { windowSeconds: 60, capacity: 200, cpuShare: 0.9, rate: 100, cacheMaxPlants: 6000, samples };
}

function succeeded(count: number, p50 = 1, p99 = 5) {
  return { count, p50, p99, p999: p99, max: 2 * p99 };
}

const failed = (soak: Soak) =>
  checksOf(soak, 1)
    .filter(({ passed }) => !passed)
    .map(({ title }) => title);

describe('The checks of a soak', () => {
  it('pass if nothing grows but the events in Redis', () => {
    expect(failed(soakWith())).to.deep.equal([]);
  });

  const faults: Readonly<Record<string, (window: number) => Partial<SoakSample>>> = {
    'flat heap': (window) => ({ heap: (20 + window / 3) * MIB }),
    'flat external memory': (window) => ({ external: (3 + window / 3) * MIB }),
    'flat resident memory': (window) => ({ resident: (100 + 2 * window) * MIB }),
    'flat file descriptors': (window) => ({ descriptors: 50 + window }),
    'flat handles of the event loop': (window) => ({ handles: 40 + window }),
    'flat buffers of clients in Redis': (window) => ({ redisClients: window * MIB }),
    'flat p50': (window) => ({ succeeded: succeeded(6000, 1 + 100 * window, 5) }),
    'flat p99': (window) => ({ succeeded: succeeded(6000, 1, 5 + 1000 * window) }),
    'flat p99 of the event loop delay': (window) => ({ loopDelayP99: 12 + 1000 * window }),
    'no request fails': (window) => (window === 3 ? { failures: { '50300': 2 } } : {}),
    'the service keeps the rate': () => ({ succeeded: succeeded(1000) }),
    'the service evicts in every window': (window) => ({ evictionsPerSecond: window === 11 ? 0 : 30 }),
    'plants in memory stay within the bound': (window) => ({ plants: window === 5 ? 6001 : 4000 }),
  };
  for (const [title, fault] of Object.entries(faults))
    it(`include: ${title}`, () => {
      expect(failed(soakWith(fault))).to.deep.equal([title]);
    });

  it('report what they found', () => {
    const { finding } = checksOf(soakWith(faults['no request fails']))[0]!;
    expect(finding).to.equal('2 × 50300');
  });
});

describe('The report of a soak', () => {
  const { text, picture } = reportOf(soakWith(), ['Of 2001-02-03', 'A machine']);

  it('has the conditions, the picture and a row for each figure', () => {
    expect(text).to.contain(
      'Of 2001-02-03. A machine. At full speed the service answered at least 200 requests a second, with 90 % of a core',
    );
    expect(text).to.contain('grew by 11.00 MiB');
    expect(text).to.contain('](soak.svg)');
    expect(text).to.contain('| heap | 20.00 MiB | 0.00 MiB | 2.00 MiB |');
  });

  it('has a panel with an axis of its own for each kind of figure', () => {
    expect(picture.match(/class="panel"/g)).to.have.length(4);
    // From the first minute of twelve at the left to the last at the right.
    expect(picture).to.match(/<polyline class="line1" points="84\.0,[^"]* 436\.0,[^"]*"/);
    expect([106, 0.4, 100, 0].map(axisEnd)).to.deep.equal([150, 0.4, 100, 1]);
  });

  it('has a picture with text for screen readers, legible in dark mode', () => {
    expect(picture).to.match(/<title id="title">12 minutes at 100 requests a second<\/title>/);
    expect(picture).to.contain(
      'Latency, in ms, p99: 5 at first, 5 at the end, median 5, from 5 to 5. Users evicted a second',
    );
    expect(picture).to.contain('@media (prefers-color-scheme: dark)');
  });
});
