import { FINDINGS, type Finding, type FindingName, problemOfAppends } from './server-checks';

export type ReportFinding = (level: 'info' | 'warn' | 'error', message: string) => void;

const REFUSED_APPEND = /\b(?:OOM|MISCONF|NOREPLICAS)\b/;
const FINDING_OF_ERROR: Readonly<Record<string, Finding>> = {
  OOM: problemOfAppends('out_of_memory'),
  MISCONF: problemOfAppends('disk_error'),
  NOREPLICAS: problemOfAppends('replicas_missing'),
};

/**
 * The current findings of all connections of a store, from examinations and from refused appends.
 * Logs each change once.
 */
export class FindingLog {
  readonly #examined = new Map<object, readonly Finding[]>();
  /** Findings of refused appends, with their expiry by `performance.now()`. */
  readonly #refused = new Map<Finding, number>();
  #logged = new Map<FindingName, string>();

  /**
   * @param rememberMs how long the finding of a refused append lasts. Later successful appends do not end it: near a
   *   limit, or in a cluster, both alternate and would fill the log with changes.
   */
  constructor(
    private readonly report: ReportFinding,
    private readonly rememberMs: number,
  ) {}

  get current(): readonly Finding[] {
    const now = performance.now();
    const refused = [...this.#refused].filter(([, until]) => until > now).map(([finding]) => finding);
    const all = [...[...this.#examined.values()].flat(), ...refused];
    return [...new Map(all.map((finding) => [finding.name, finding])).values()];
  }

  get flags(): Readonly<Record<FindingName, boolean>> {
    const names = new Set(this.current.map(({ name }) => name));
    const all = Object.keys(FINDINGS) as FindingName[];
    return Object.fromEntries(all.map((name) => [name, names.has(name)])) as Record<FindingName, boolean>;
  }

  /** Whether Redis accepts writes, as far as known. */
  get writes(): boolean {
    return this.refusals.length === 0;
  }

  /** The names of the findings for which reads or writes are refused. */
  get refusals(): readonly FindingName[] {
    return this.current.map(({ name }) => name).filter((name) => FINDINGS[name] !== 'warn');
  }

  examined(connection: object, findings: readonly Finding[]): void {
    this.#examined.set(connection, findings);
    this.#logChanges();
  }

  appendFailed(error: unknown): void {
    const [reason = ''] = (error instanceof Error && REFUSED_APPEND.exec(error.message)) || [];
    const finding = FINDING_OF_ERROR[reason];
    if (finding) this.#remember(finding);
  }

  tooFewReplicas(): void {
    this.#remember(problemOfAppends('replicas_missing'));
  }

  #remember(finding: Finding): void {
    const known = [...this.#refused.keys()].find(({ name }) => name === finding.name) ?? finding;
    this.#refused.set(known, performance.now() + this.rememberMs);
    this.#logChanges();
  }

  #logChanges(): void {
    const current = new Map(this.current.map(({ name, text }) => [name, text]));
    const changes = [...current].filter(([name, text]) => this.#logged.get(name) !== text);
    const refusals = changes.filter(([name]) => FINDINGS[name] === 'refuse all').map(([, text]) => text);
    if (refusals.length > 0) this.report('error', refusalText(refusals));
    for (const [name, text] of changes) {
      if (FINDINGS[name] === 'no writes') this.report('error', `Redis: ${text}`);
      if (FINDINGS[name] === 'warn') this.report('warn', `Redis: ${text}`);
    }
    for (const name of this.#logged.keys())
      if (!current.has(name)) this.report('info', `Redis problem resolved: ${name.replaceAll('_', ' ')}`);
    this.#logged = current;
  }
}

export function refusalText(refusals: readonly string[]): string {
  return `Redis must not be used: ${refusals.join('; ')}`;
}
