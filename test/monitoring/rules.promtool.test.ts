import { execFile, execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { parse } from 'yaml';
import { sectionOf } from '../../scripts/release-plan';
import { describePrograms } from '../support/programs';
import { temporaryDirectory } from '../support/temporary-directory';
import { startWatched } from '../support/watched-service';
import { FAILURES, WELL } from './failures';
import { RULES, alerts, panelQueries } from './rules';

const promtool = (...args: string[]) => promisify(execFile)('promtool', args);
const ALERTMANAGER = 'deploy/prometheus/alertmanager.yaml';
const NAMES = alerts().map(({ alert }) => alert);

/** An expression, the minute, and the labels of its only sample, which is 1; none if it has no sample. */
type Expected = readonly [expression: string, minute: number, labels?: string];

describePrograms({ promtool: 'prometheus' }, 'The rules of Prometheus', () => {
  const path = temporaryDirectory();

  /** promtool tests the rules with these series. JSON is YAML. */
  function test(cases: readonly { name: string; series: typeof WELL; expected: readonly Expected[] }[]) {
    const tests = cases.map(({ name, series, expected }) => ({
      name,
      interval: '1m',
      input_series: Object.entries(series).map(([key, values]) => ({ series: key, values })),
      promql_expr_test: expected.map(([expr, minute, labels]) => ({
        expr,
        eval_time: `${minute}m`,
        exp_samples: labels === undefined ? [] : [{ labels, value: 1 }],
      })),
    }));
    writeFileSync(
      path('test.json'),
      JSON.stringify({ rule_files: [resolve(RULES)], evaluation_interval: '1m', tests }),
    );
    return promtool('test', 'rules', path('test.json'));
  }

  it('fire in time, alone, and clear', async () => {
    const firing = 'count by (alertname) (ALERTS{alertstate="firing"})';
    const cases = FAILURES.map(([name, alert, series, fires, clears]) => ({
      name,
      series: { ...WELL, ...series },
      expected: [
        [firing, fires - 1],
        [firing, fires, `{alertname="${alert}"}`],
        [firing, clears - 1, `{alertname="${alert}"}`],
        [firing, clears],
      ] as const,
    }));
    const silent = Array.from({ length: 80 }, (_, minute) => [firing, minute] as const);
    await test([...cases, { name: 'all is well', series: WELL, expected: silent }]);
  });

  it('each have a failure that fires them, and a panel that has data while all is well', async () => {
    expect(new Set(FAILURES.map(([, alert]) => alert))).to.deep.equal(new Set(NAMES));
    const queries = NAMES.flatMap((alert) => {
      expect(panelQueries(alert), alert).not.to.deep.equal([]);
      return panelQueries(alert);
    });
    // NaN is no data.
    const hasData = (query: string) => [`count((${query}) > -1) > bool 0`, 9, '{}'] as const;
    await test([{ name: 'panels', series: WELL, expected: queries.map(hasData) }]);
  });

  it('each say what happens and what to do, with a runbook that the page links', () => {
    const page = readFileSync('docs/operations.md', 'utf8');
    for (const { alert, labels, annotations } of alerts()) {
      expect(labels.severity).to.match(/^(?:page|ticket)$/);
      expect(annotations).to.have.all.keys('summary', 'description', 'runbook_url');
      // test/docs/anchors.unit.test.ts follows the links of the page.
      expect(annotations.runbook_url).to.match(/^https:/);
      const link = sectionOf(annotations.runbook_url);
      const row = page.split('\n').find((line) => line.startsWith(`| ${annotations.summary} | ${alert} |`));
      expect(row, alert).to.contain(`](${link.replace('operations.md#', '#')})`);
    }
  });

  it('are part of a valid configuration', () =>
    promtool('check', 'config', 'deploy/prometheus/prometheus.yaml'));

  it('use metrics that are named by convention', async () => {
    const service = await startWatched();
    try {
      const text = await (await fetch(`${service.url}/metrics`)).text();
      // Without the default metrics of prom-client, some of which are gauges with _total.
      const own = text.split('\n').filter((line) => /^(?:# \w+ )?(?:http|plant_store)_/.test(line));
      expect(own).not.to.deep.equal([]);
      execFileSync('promtool', ['check', 'metrics'], { input: `${own.join('\n')}\n` });
    } finally {
      await service.stop();
    }
  });
});

describePrograms({ amtool: 'prometheus-alertmanager' }, 'The inhibition of Alertmanager', () => {
  it('is valid, and between alerts that exist', async () => {
    await promisify(execFile)('amtool', ['check-config', ALERTMANAGER]);
    const { inhibit_rules: rules } = parse(readFileSync(ALERTMANAGER, 'utf8')) as { inhibit_rules: unknown };
    const named = JSON.stringify(rules).match(/PlantStore\w+/g)!;
    expect(NAMES).to.include.members(named);
  });
});
