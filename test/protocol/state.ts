/** A recorded event: the commit that recorded it, and the command that led to it. */
export type Recorded = readonly [commit: number, command: number];
export type History = readonly Recorded[];
/** Version and commit; both 0 at the beginning. */
export type Head = readonly [version: number, commit: number];

export interface Append {
  readonly expected: Head;
  readonly commit: number;
  readonly command: number;
}

/** What the store answers: `newer` has one event, or none. */
export type Result = 'appended' | 'reset' | { readonly newer: History; readonly more: boolean };

/** A request of a client, and the call that its instance makes for it. */
export interface Request {
  /** 0 for a query. */
  readonly command: number;
  /** A query must show at least this version. */
  readonly floor: number;
  /** Absent while the instance reads. */
  readonly append?: Append | undefined;
  /** Whether the outcome of an earlier attempt of this append is unknown. */
  readonly unknown?: boolean;
  /** Absent until the store has executed the call. */
  readonly result?: Result | undefined;
}

export interface Instance {
  readonly known: History;
  readonly request?: Request | undefined;
}

/** The state of the model. The instances and their clients, the network and the store. */
export interface State {
  readonly history: History;
  readonly instances: readonly Instance[];
  /** Appends that no instance waits for, and that the store may still execute. */
  readonly late: readonly Append[];
  /** The highest version that a response has shown or acknowledged. */
  readonly shown: number;
  readonly acknowledged: readonly number[];
  /** Commands of which the client learned that nothing was written, and nothing will be. */
  readonly refused: readonly number[];
  /** Commands that were recorded and then lost with the tail. */
  readonly lost: readonly number[];
  /** Numbers so far. */
  readonly commands: number;
  readonly queries: number;
  readonly commits: number;
  readonly faults: number;
  /** Whether a query was answered from events that are not the newest ones. */
  readonly stale: boolean;
}

export function headOf(history: History): Head {
  return [history.length, history.at(-1)?.[0] ?? 0];
}

export function contains(history: History, [version, commit]: Head): boolean {
  return version <= history.length && (history[version - 1]?.[0] ?? 0) === commit;
}

/** The property that a state violates; `undefined` if none. */
export function problemOf({ history, acknowledged, refused, lost, stale }: State): string | undefined {
  const recorded = history.map(([, command]) => command);
  if (new Set(recorded).size < recorded.length) return 'a command is recorded twice';
  if (acknowledged.some((command) => !recorded.includes(command) && !lost.includes(command)))
    return 'an acknowledged command is not recorded';
  if (refused.some((command) => recorded.includes(command)))
    return 'a command is recorded of which nothing was to be written';
  return stale ? 'a query is stale' : undefined;
}
