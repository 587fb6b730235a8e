/** One variable, the rule it breaks, and what to write instead. Never quotes a value. */
export interface ConfigProblem {
  readonly variable: string;
  readonly rule: string;
  readonly fix: string;
  /** Another variable that the problem is about. */
  readonly about?: string;
}
