import { expect } from 'chai';
import { type Pairs, compare, rateRatio, poolRounds } from '../../bench/compare';
import { OutOfIds, VoidFigure, resultOf } from '../../bench/load';
import { placement } from '../../bench/machine';
import type { Contestant } from '../../bench/measure';
import { reportText } from '../../bench/report';
import { partsOf } from '../../bench/sections/profile';
import { type Conditions, type ServerSession, type MeasuredSlice, idsAfter } from '../../bench/session';
import { quantile, spread } from '../../bench/statistics';
import { figureTable, ratioTable, rowsOf } from '../../bench/table';
import { withFigures } from '../../scripts/page-figures';

/** A slice of one second in which a server answers this many requests. */
function slice(requests: number, cpuSeconds?: number): MeasuredSlice {
  return { requests, seconds: 1, p50Ms: 1, p99Ms: 2, p999Ms: 2.5, maxMs: 3, cpuSeconds };
}

/** The same pairs for all methods. */
function pairs(...all: readonly (readonly [own: MeasuredSlice, other: MeasuredSlice])[]): Pairs {
  const each = all.map(([own, other]) => ({ own, other }));
  return { GET: each, POST: each, DELETE: each };
}

const contestants = [
  { name: 'bare', title: 'bare `node:http`' },
  { name: 'fern', title: 'Fern & <Moss>' },
] as Contestant[];

// A machine that is half as fast in one of the seconds, and three seconds of which one was lost to other work.
const compared = new Map([
  ['bare', pairs([slice(100, 1), slice(100, 1)], [slice(50, 1), slice(50, 1)])],
  [
    'fern',
    poolRounds([
      pairs([slice(50, 0.8), slice(100, 1)], [slice(25, 0.8), slice(50, 1)]),
      pairs([slice(60, 1), slice(100, 1)], [slice(10, 1), slice(100, 1)], [slice(52, 1), slice(100, 1)]),
    ]),
  ],
]);

describe("The benchmark's figures", () => {
  it('have the quartiles of the known numbers as the spread', () => {
    expect(quantile([5, 1, 4, 2, 3], 0)).to.equal(1);
    expect(quantile([5, 1, 4, 2, 3], 1)).to.equal(5);
    expect(quantile([1, 2], 0.25)).to.equal(1.25);
    expect(spread([5, undefined, 1, 4, 2, 3])).to.deep.equal({ median: 3, lower: 2, upper: 4 });
    expect(spread([undefined])).to.equal(undefined);
  });

  it('compare each second with the adjacent second of bare', () => {
    const [bare, fern] = rowsOf(contestants, compared);
    expect(bare!.byMethod.GET.rate).to.deep.equal({ median: 1, lower: 1, upper: 1 });
    expect(fern!.byMethod.POST.rate).to.deep.equal({ median: 0.5, lower: 0.5, upper: 0.52 });
    expect(fern!.byMethod.POST.perSecond).to.equal(50);
  });

  it('show ratios with their spread, and the figures from which they come', () => {
    const rows = rowsOf(contestants, compared);
    expect(ratioTable(rows)).to.contain('| Fern & <Moss> | 0.50 (0.50–0.52) |');
    expect(figureTable(rows)).to.contain('| Fern & <Moss> | 50, 19230.8, 2.0 |');
  });
});

describe("The benchmark's profile", () => {
  /** @param files of the functions, each of which calls the next; no file is that of a native one. */
  const profileOf = (...files: readonly (readonly [name: string, url: string, time: number])[]) => ({
    nodes: files.map(([functionName, url], index) => ({
      id: index + 1,
      callFrame: { functionName, url, scriptId: '0', lineNumber: 0, columnNumber: 0 },
      children: index + 1 < files.length ? [index + 2] : [],
    })),
    samples: files.map((_, index) => index + 1),
    timeDeltas: files.map(([, , time]) => time),
    startTime: 0,
    endTime: 0,
  });

  it('counts a native function as a part of its caller, and no time without work', () => {
    const parts = partsOf(
      profileOf(
        ['(root)', '', 0],
        ['sendCommand', 'file:///app/node_modules/ioredis/built/Redis.js', 20],
        ['writev', '', 60],
        ['emit', 'node:events', 20],
        ['(idle)', '', 900],
      ),
      50,
    );
    expect(parts.get('ioredis')).to.equal(40);
    expect(parts.get('timers, ticks, buffers, events in Node')).to.equal(10);
    expect(parts.get('all')).to.equal(50);
  });
});

describe("The benchmark's comparison", () => {
  const conditions = { warmUpSeconds: 1, slices: 3, seconds: 0.5 } as Conditions;

  /** Two sessions that record the order of their calls. */
  function sessions(): { calls: string[]; own: ServerSession; other: ServerSession } {
    const calls: string[] = [];
    const session = (name: string, requests: number) => ({
      provide: async (method: string) => void calls.push(`${name} gets plants for ${method}`),
      slice: async (method: string) => {
        calls.push(`${name} ${method}`);
        return slice(requests);
      },
    });
    return {
      calls,
      own: session('own', 10) as unknown as ServerSession,
      other: session('other', 20) as unknown as ServerSession,
    };
  }

  it('alternates the servers, and which one is first, from the warm-up on', async () => {
    const { calls, own, other } = sessions();
    const { GET } = await compare(own, other, conditions);
    const [warmUp, slices] = [2, 3];
    expect(GET).to.have.length(slices);
    expect(calls.slice(0, 2 + 2 * (warmUp + slices))).to.deep.equal([
      'own gets plants for GET',
      'other gets plants for GET',
      'own GET',
      'other GET',
      'other GET',
      'own GET',
      'own GET',
      'other GET',
      'other GET',
      'own GET',
      'own GET',
      'other GET',
    ]);
  });

  it('assigns each slice to its server', async () => {
    const { own, other } = sessions();
    const { DELETE } = await compare(own, other, conditions);
    expect(DELETE.map(rateRatio)).to.deep.equal([0.5, 0.5, 0.5]);
  });
});

describe("The benchmark's load", () => {
  const good = { requests: 10, seconds: 2, p50Ms: 1, p99Ms: 2, p999Ms: 2.5, maxMs: 3 };
  const said = (more: object) =>
    `Running 2s test\n${JSON.stringify({ ...good, refused: 0, unanswered: 0, outOfIds: 0, ...more })}\n`;

  it('reports its result in the last line', () => {
    expect(resultOf(said({}), 'GET')).to.deep.equal(good);
    expect(() => resultOf('no such program', 'GET')).to.throw('printed no result');
  });

  it('is void with a single failure, and without any response', () => {
    expect(() => resultOf(said({ refused: 1 }), 'GET /plants')).to.throw(
      VoidFigure,
      'GET /plants: 1 of 10 requests were refused',
    );
    expect(() => resultOf(said({ unanswered: 1 }), 'GET')).to.throw('1 not answered, so the figure is void');
    expect(() => resultOf(said({ outOfIds: 1, refused: 3 }), 'DELETE')).to.throw(OutOfIds);
    expect(() => resultOf(said({ requests: 0 }), 'GET')).to.throw('nothing was answered');
  });

  it('deletes no id twice', () => {
    const ids = [
      { first: 1, count: 5 },
      { first: 10, count: 5 },
    ];
    expect(idsAfter(ids, 3)).to.deep.equal([{ first: 4, count: 2 }, ids[1]]);
    expect(idsAfter(ids, 7)).to.deep.equal([{ first: 12, count: 3 }]);
    expect(idsAfter(ids, 99)).to.deep.equal([]);
  });
});

describe("The benchmark's placement", () => {
  it('separates server and load, and Redis as well if there are enough cores', () => {
    expect(placement(1, true).server).to.equal(undefined);
    expect(placement(8, false).server).to.equal(undefined);
    expect(placement(2, true)).to.include({ server: '1', load: '0', redis: '0', redisHasOwnCore: false });
    expect(placement(3, true)).to.include({ server: '2', load: '0', redis: '1', redisHasOwnCore: true });
    expect(placement(8, true)).to.include({ server: '7', load: '0-5', redis: '6', redisHasOwnCore: true });
  });
});

describe("The benchmark's page", () => {
  const page = 'before\n<!-- figures: npm run bench -->\nold\n<!-- /figures -->\nafter\n';

  it('has the figures between its markers, and is otherwise unchanged', () => {
    const text = reportText({
      date: '2001-02-03',
      about: ['2 cores', 'wrk'],
      sections: [['Redis', { text: '$& 1.0' }]],
    });
    expect(withFigures(page, 'figures', text)).to.equal(
      'before\n<!-- figures: npm run bench -->\nOf 2001-02-03. 2 cores. wrk.\n\n### Redis\n\n$& 1.0\n<!-- /figures -->\nafter\n',
    );
    expect(() => withFigures('no place', 'figures', text)).to.throw('markers');
  });
});
