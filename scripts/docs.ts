// Generates the parts of the pages that show the code (the configuration, the metrics, the alerts), the picture of the tour,
// and the alerts as an object of Kubernetes.
// `--check` changes nothing, and fails if a page is out of date.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { parse } from 'yaml';
import { Metrics } from '../src/adapters/metrics';
import { variables } from '../src/service/config';
import { withPlantedFaults } from './planted-faults';
import { sectionOf } from './release-plan';
import { reliability } from './reliability';
import { tourPicture } from './tour-picture';

const RULES = 'deploy/prometheus/rules.yaml';
const PAGES = ['README.md', 'docs/operations.md', 'docs/reliability.md'];

function configuration(): string {
  const rows = variables.map(
    ({ name, fallback, meaning }) =>
      `| \`${name}\` | ${fallback === undefined ? '–' : `\`${fallback}\``} | ${meaning} |`,
  );
  return ['| name | default | meaning |', '| --- | --- | --- |', ...rows].join('\n');
}

function metrics(): string {
  const described = new Metrics({ methods: [], failureReasons: [], version: '' });
  // Their values are not read. A store with findings is one on Redis, which has further metrics.
  described.watch({} as never, () => ({ findings: {} }) as never, (() => {}) as never);
  const sorted = [...described.descriptions].sort((a, b) => (a.name < b.name ? -1 : 1));
  const rows = sorted.map(({ name, type, labelNames, help }) => {
    const labels = labelNames.length === 0 ? '–' : labelNames.map((label) => `\`${label}\``).join(', ');
    return `| \`${name}\` | ${type} | ${labels} | ${help} |`;
  });
  return ['| metric | type | labels | meaning |', '| --- | --- | --- | --- |', ...rows].join('\n');
}

interface Rule {
  readonly alert: string;
  readonly for?: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook_url: string };
}

function alerts(): string {
  const { groups } = parse(readFileSync(RULES, 'utf8')) as {
    readonly groups: readonly { readonly rules: readonly Rule[] }[];
  };
  const rows = groups
    .flatMap(({ rules }) => rules)
    .map((rule) => {
      // A rate needs its whole window to reach its final value.
      const window = /\brate\(.*\[(\d+)m\]/s.exec(rule.expr)?.[1] ?? '0';
      const minutes = Number(window) + Number.parseInt(rule.for ?? '0', 10);
      const { summary, runbook_url: url } = rule.annotations;
      const link = sectionOf(url).replace(/^operations\.md/, '');
      const section = new URL(url).hash.slice(1).replaceAll('-', ' ');
      return `| ${summary} | ${rule.alert} | ${rule.labels.severity} | ${minutes} min | [${section}](${link}) |`;
    });
  return [
    '| failure | alert | severity | fires within | runbook |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
}

/** The rules for the Prometheus operator, which reads no file of Prometheus. */
function prometheusRule(): string {
  const rules = readFileSync(RULES, 'utf8').replace(/^#.*\n/gm, '');
  return `# Generated from ${RULES}: npm run docs
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: plant-store
  labels:
    app.kubernetes.io/name: plant-store
spec:
${rules.replace(/^(?=.)/gm, '  ')}`;
}

const places: Readonly<Record<string, string>> = {
  configuration: configuration(),
  metrics: metrics(),
  alerts: alerts(),
  ...reliability(),
};

const made: Readonly<Record<string, () => string>> = {
  'docs/promises.md': () => withPlantedFaults(readFileSync('docs/promises.md', 'utf8')),
  'docs/tour.svg': () => tourPicture(readFileSync('README.md', 'utf8')),
  'deploy/kubernetes/monitoring/prometheus-rule.yaml': prometheusRule,
};

const stale = [...PAGES, ...Object.keys(made)].filter((page) => {
  const before = existsSync(page) ? readFileSync(page, 'utf8') : '';
  const after =
    made[page]?.() ??
    before.replace(
      /(<!-- (\w+): npm run docs -->\n)[^]*?(<!-- \/\2 -->)/g,
      (_, start: string, name: string, end: string) => `${start}${places[name] ?? ''}\n${end}`,
    );
  if (after !== before && !process.argv.includes('--check')) writeFileSync(page, after);
  return after !== before;
});

if (process.argv.includes('--check') && stale.length > 0) {
  console.error(`the generated parts of ${stale.join(' and ')} are out of date: npm run docs`);
  process.exitCode = 1;
}
