/** A line of scenarios.ts: a topology, a workload, faults and checks. Servers, a simulator or a model play them. */
export interface Scenario {
  /** How many steps a test of the scenario has: faults, schedules or runs. 0: it runs only by its name. */
  readonly short: number;
  /** Whether one run takes all of the time; else runs of other seeds follow each other. */
  readonly takesAll?: boolean;
  /** Its place in the matrix of docs/reliability.md. */
  readonly cell?: Cell;
  /** Why this machine cannot run it; `undefined` if it can. */
  unavailable(): string | undefined;
  run(options: RunOptions): Promise<ScenarioOutcome>;
}

/** A place in the matrix of docs/reliability.md. */
export interface Cell {
  readonly fsync: string;
  /** REDIS_WAIT_REPLICAS. */
  readonly wait: number;
  readonly fault: string;
}

export interface RunOptions {
  readonly seed: number;
  /** Whether another step follows this number of them. The first one always happens. */
  readonly continues: (steps: number) => boolean;
  /** For a run that plans its time: it ends after this many. */
  readonly minutes?: number;
  /** Gets a line for a person. */
  readonly progress?: (line: string) => void;
}

export interface ScenarioOutcome {
  readonly violations: readonly string[];
  /** A line with the figures of the run. */
  readonly summary: string;
  /** How to find the cause of the violations. */
  readonly explanation?: string;
  /** Keeps what this run and the `earlier` ones of the same command found, for a page. */
  write?(name: string, earlier: readonly ScenarioOutcome[], conditions: string): void;
}
