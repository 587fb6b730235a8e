import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

export const RULES = 'deploy/prometheus/rules.yaml';

/** An alert of {@link RULES}. */
export interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: {
    readonly summary: string;
    readonly description: string;
    readonly runbook_url: string;
  };
}

export function alerts(): readonly Alert[] {
  const { groups } = parse(readFileSync(RULES, 'utf8')) as {
    readonly groups: readonly { readonly rules: readonly Alert[] }[];
  };
  return groups.flatMap(({ rules }) => rules);
}

/** The queries of the dashboard's panels whose description has the text, as Grafana sends them. */
export function panelQueries(described = ''): readonly string[] {
  const { panels } = JSON.parse(readFileSync('deploy/grafana/plant-store.json', 'utf8')) as {
    readonly panels: readonly {
      readonly description?: string;
      readonly targets?: readonly { readonly expr: string }[];
    }[];
  };
  return panels
    .filter(({ description = '' }) => description.includes(described))
    .flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
    .map((expr) =>
      expr
        .replaceAll('$__rate_interval', '5m')
        .replaceAll('$job', 'plant-store')
        .replaceAll(/\$(?:namespace|instance)/g, '.*'),
    );
}
