import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { durabilityTable, runsTable, timesTable } from '../../../scripts/reliability';
import type { ServersReport } from '../on-servers';
import { SCENARIOS } from '../scenarios';
import { readResults, resultOf } from './results';

const CELL = 'durability: Sentinel, crash, appendfsync always, WAIT 1';

function report(times: Readonly<Record<string, number>>): ServersReport {
  const step = {
    ...{ fault: 'a fault', pauseMs: 0, lastsMs: 0, roll: 0, from: 0, to: 1, switched: false },
    ...{ losesSince: undefined, repairedMs: 0, servedMs: 100, outages: { alice: 1500, bob: 2500 }, times },
  };
  return {
    ...{ seed: 7, steps: [step], requests: 4000, acknowledged: 2000, lost: 3, noticed: 2 },
    ...{ staleLists: 1, writtenTwice: 0, violations: ['x'], history: undefined },
  };
}

describe('docs/reliability.md', () => {
  const result = resultOf([report({ served: 900 }), report({ served: Infinity })], 'here');
  // As it is read from the file.
  const runs = JSON.parse(JSON.stringify({ [CELL]: result, 'a lost Sentinel': result })) as Record<
    string,
    typeof result
  >;

  it('has the sums of all runs of a scenario', () => {
    expect(runsTable(runs)).to.contain('| a lost Sentinel | 2 | 2 | 8,000 | 4,000 | 6 | 4 | 0 | 2 | 2 |');
  });

  it('has the longest times, and those that never came', () => {
    expect(timesTable(runs)).to.contain('| a lost Sentinel | a fault | 2 | never | 2.5 s |');
  });

  it('has a cell for each measured setting, which is empty without a run', () => {
    const row = durabilityTable(runs)
      .split('\n')
      .filter((line) => line.startsWith('| `always` | `1` |'));
    expect(row).to.deep.equal([
      '| `always` | `1` |  |  | **6** (4 noticed) of 4,000, 2.5 s |  |  |  |  |  |  |',
    ]);
  });

  it('has results of scenarios that exist, and defects that a test or a scenario shows', () => {
    for (const name of Object.keys(readResults('runs') as object)) expect(SCENARIOS).to.have.property(name);
    for (const row of readResults('defects') as readonly Readonly<Record<string, string>>[]) {
      const [, name = '', title = ''] = /`([^`]+)`(?:: ([^;]*))?/.exec(row['shown by']!)!;
      if (name.startsWith('test/')) expect(readFileSync(name, 'utf8'), name).to.contain(title);
      else
        expect(
          Object.keys(SCENARIOS).some((each) => each.includes(name)),
          name,
        ).to.equal(true);
    }
  });
});
