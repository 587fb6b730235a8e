import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

export const RULES = 'deploy/prometheus/rules.yaml';

/** An alert of {@link RULES}. */
export interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string };
}

export function alerts(): readonly Alert[] {
  const { groups } = parse(readFileSync(RULES, 'utf8')) as {
    readonly groups: readonly { readonly rules: readonly Alert[] }[];
  };
  return groups.flatMap(({ rules }) => rules);
}
