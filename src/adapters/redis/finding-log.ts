import { FINDINGS, type Finding, type FindingName, problemOfAppends } from './server-checks';

export type Report = (level: 'info' | 'warn' | 'error', message: string) => void;

const REFUSED_APPEND = /\b(?:OOM|MISCONF|NOREPLICAS)\b/;
const REFUSED_BECAUSE_OF: Readonly<Record<string, Finding>> = {
  OOM: problemOfAppends('out_of_memory'),
  MISCONF: problemOfAppends('disk_error'),
  NOREPLICAS: problemOfAppends('replicas_missing'),
};

/**
 * What is wrong with the server, as far as any connection of a store knows: from its examinations, and from the appends
 * that it refused. Logs each change once.
 */
export class FindingLog {
  readonly #examined = new Map<object, readonly Finding[]>();
  /** What appends ran into, and until when that counts, by `performance.now()`. */
  readonly #refused = new Map<Finding, number>();
  #logged = new Map<FindingName, string>();

  /**
   * @param rememberMs for how long a refused append counts. Later ones that succeed do not end it: near a limit, or in a
   *   cluster, both happen side by side, and the log would fill with changes.
   */
  constructor(
    private readonly report: Report,
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

  /** Whether Redis takes writes, as far as is known. */
  get writes(): boolean {
    return this.current.every(({ name }) => FINDINGS[name] === 'warn');
  }

  examined(connection: object, findings: readonly Finding[]): void {
    this.#examined.set(connection, findings);
    this.#logChanges();
  }

  appendFailed(error: unknown): void {
    const [reason = ''] = (error instanceof Error && REFUSED_APPEND.exec(error.message)) || [];
    const finding = REFUSED_BECAUSE_OF[reason];
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
    const fresh = [...current].filter(([name, text]) => this.#logged.get(name) !== text);
    const refusals = fresh.filter(([name]) => FINDINGS[name] === 'refuse all').map(([, text]) => text);
    if (refusals.length > 0) this.report('error', refusalText(refusals));
    for (const [name, text] of fresh) {
      if (FINDINGS[name] === 'no writes') this.report('error', `Redis: ${text}`);
      if (FINDINGS[name] === 'warn') this.report('warn', `Redis: ${text}`);
    }
    for (const name of this.#logged.keys())
      if (!current.has(name)) this.report('info', `Redis is mended: ${name.replaceAll('_', ' ')} no longer`);
    this.#logged = current;
  }
}

export function refusalText(refusals: readonly string[]): string {
  return `Redis must not be used: ${refusals.join('; ')}`;
}
