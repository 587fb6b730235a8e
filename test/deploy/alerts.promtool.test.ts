import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { parse } from 'yaml';
import { FAILURE_REASONS } from '../../src/adapters/http';
import { Metrics } from '../../src/adapters/metrics';
import type { AggregatesUsage } from '../../src/event-sourcing';
import { describePrograms } from '../support/programs';
import { temporaryDirectory } from '../support/temporary-directory';

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
}

const FILE = 'deploy/prometheus/alerts.yaml';
const { groups } = parse(readFileSync(FILE, 'utf8')) as {
  groups: readonly { rules: readonly Alert[] }[];
};
const rules = groups.flatMap((group) => group.rules);

const REFUSED = 'http_request_duration_seconds_count route="/plants",status="503"';
const FAST = 'http_request_duration_seconds_bucket route="/plants",le="0.5"';
const WRITES = 'plant_store_event_store_available operation="append"';

/** The samples of an instance that is well, one each minute, by series. */
const WELL: Readonly<Record<string, string>> = {
  up: '1x60',
  plant_store_ready: '1x60',
  [WRITES]: '1x60',
  plant_store_lost_histories_total: '0x60',
  // A rollout, its rollback, and both again.
  process_start_time_seconds: '1000x9 1001+1x3 1004x50',
  'plant_store_auth_source_up source="key_set"': '1x60',
  'plant_store_faults_total reason="unreadable"': '0x60',
  'plant_store_redis_finding finding="evicts"': '0x60',
  'http_request_failures_total reason="bug"': '0x60',
  'http_request_failures_total reason="token_expired"': '0+9x60',
  http_refused_connections_total: '0x60',
  'http_request_duration_seconds_count route="/plants",status="200"': '0+1000x60',
  [REFUSED]: '0+9x60',
  'http_request_duration_seconds_count route="/health/ready",status="503"': '0+1000x60',
  [FAST]: '0+995x60',
  'http_request_duration_seconds_bucket route="/plants",le="1"': '0+1000x60',
  'http_request_duration_seconds_bucket route="/plants",le="+Inf"': '0+1000x60',
};

/** What begins at the minute 10, the alert that it fires alone, and the minute by which it does. */
const FAILURES: readonly (readonly [alert: string, by: number, series: string, samples: string])[] =
  [
    ['PlantStoreErrors', 21, REFUSED, '0+9x9 100+20x50'],
    ['PlantStoreSlow', 21, FAST, '0+995x9 8965+900x50'],
    ['PlantStoreNotReady', 13, 'plant_store_ready', '1x9 0x50'],
    ['PlantStoreNotReady', 13, 'up', '1x9 0x50'],
    ['PlantStoreNotReady', 13, 'up', '1x9 stale'],
    ['PlantStoreWritesRefused', 12, WRITES, '1x9 0x50'],
    ['PlantStoreLostHistory', 11, 'plant_store_lost_histories_total', '0x9 1x50'],
    ['PlantStoreRestarts', 15, 'process_start_time_seconds', '1000x9 1001+1x4 1005x50'],
    ['PlantStoreTokens', 16, 'plant_store_auth_source_up source="key_set"', '1x9 0x50'],
    ['PlantStoreBug', 11, 'http_request_failures_total reason="bug"', '0x9 1x50'],
    ['PlantStoreUnreadableHistory', 11, 'plant_store_faults_total reason="unreadable"', '0x9 1x50'],
    ['PlantStoreFinding', 12, 'plant_store_redis_finding finding="evicts"', '0x9 1x50'],
    ['PlantStoreLimit', 16, 'http_refused_connections_total', '0x9 1+1x50'],
    ...FAILURE_REASONS.filter((reason) => /^(?:waiting|state|responses|bodies|user)/.test(reason))
      .map((reason) => `http_request_failures_total reason="${reason}"`)
      .map((series) => ['PlantStoreLimit', 16, series, '0x9 1+1x50'] as const),
  ];

describePrograms({ promtool: 'prometheus' }, 'The alerts', () => {
  const path = temporaryDirectory();

  it('fire in time, each only for its own failures, and none while the service is healthy', async () => {
    const expr = 'count by (alertname) (ALERTS{alertstate="firing"})';
    const sampleOf = (alert: string) => ({ labels: `{alertname="${alert}"}`, value: 1 });
    const firing = (series: typeof WELL, minute: number, ...alerts: string[]) => ({
      interval: '1m',
      input_series: Object.entries({ ...WELL, ...series }).map(([key, values]) => {
        const [name, labels] = key.split(' ');
        return { series: `${name}{job="plant-store",instance="a",${labels ?? ''}}`, values };
      }),
      promql_expr_test: [{ expr, eval_time: `${minute}m`, exp_samples: alerts.map(sampleOf) }],
    });
    const tests = [
      ...Array.from({ length: 60 }, (_, minute) => firing({}, minute)),
      ...FAILURES.map(([alert, by, series, samples]) => firing({ [series]: samples }, by, alert)),
    ];
    const cases = { rule_files: [resolve(FILE)], evaluation_interval: '1m', tests };
    writeFileSync(path('cases.json'), JSON.stringify(cases));
    await promisify(execFile)('promtool', ['test', 'rules', path('cases.json')]);
    expect(FAILURES.map(([alert]) => alert)).to.include.members(rules.map(({ alert }) => alert));
  });

  it('use only metrics of the service, and are listed in docs/operations.md', async () => {
    const metrics = new Metrics([], [], '');
    const none = () => 0;
    metrics.watch({
      usage: () => new Proxy({}, { get: none }) as AggregatesUsage,
      ready: async () => true,
      connections: none,
      maxConnections: 0,
      refusedConnections: none,
      droppedLogLines: none,
      pages: () => ({ cachedBytes: 0, streaming: 0 }),
      available: () => Promise.resolve({ reads: true, writes: true }),
      // A store on Redis has this status, and a metric for it.
      storeStatus: () => ({ reads: true, writes: true, findings: {} }),
    });
    const scraped = await metrics.text();
    metrics.close();
    const page = readFileSync('docs/operations.md', 'utf8');
    for (const { alert, expr, labels } of rules) {
      for (const [metric] of expr.matchAll(/\b(?:http|plant_store)_[a-z_]+/g))
        expect(scraped).to.contain(`# TYPE ${metric.replace(/_(?:count|bucket)$/, '')} `);
      expect(page).to.contain(`| ${alert} | ${labels.severity} |`);
    }
  });
});
