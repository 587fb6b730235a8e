/** The input and the report of a load generator: plain data, because both cross a process boundary. */
export interface Workload {
  /** The URL of the service, e.g. `http://127.0.0.1:3000`. */
  readonly url: string;
  /** The seed of the random arrival times. */
  readonly seed: number;
  /** In ms. Then everything ends, finished or not. */
  readonly endsAfterMs: number;
  /** The figures are reported in windows of this length, in ms. Those at the end are of the last one. */
  readonly windowMs?: number;
  /** Played at the same time. */
  readonly groups: readonly ClientGroup[];
}

/** Clients that behave alike. A client has one connection and at most one request in flight. */
export interface ClientGroup {
  readonly name: string;
  /** The URL of its requests, if different from that of the workload. */
  readonly url?: string;
  readonly users: readonly string[];
  /** A token is this text and the name of the user; absent: `tokenOf(user)`. */
  readonly tokens?: string;
  /** Clients of each user; 1 by default. 0: one client for all users, which serves them one after the other. */
  readonly clientsPerUser?: number;
  /** Number of clients, if their requests choose the user: `each` and `mix`. */
  readonly clients?: number;
  /** Instead of clients that wait for their responses. */
  readonly rate?: ConstantRate;
  /** GET these targets in turn; with `create`, GET and POST alternate. */
  readonly get?: readonly string[];
  /** POST plants with names of `nameLength` characters, and ids that are used once. */
  readonly create?: { readonly nameLength: number };
  /** One request for each of these ids, by the user at `id % users.length`. */
  readonly each?: { readonly method: LoadMethod; readonly target: string; readonly ids: readonly IdRange[] };
  readonly mix?: Mix;
  /** How many requests of a client (with `clientsPerUser: 0`, per user) must succeed. Absent: as many as fit until the finite groups have ended. */
  readonly requests?: number;
  /** The clients' first requests are spread over this time at random, in ms; 0 by default. */
  readonly arriveWithinMs?: number;
  /** From the start of one request to the start of the next, in ms; absent: at once after the response. */
  readonly everyMs?: number;
  /** Whether a client waits as `Retry-After` says before its next request, to the millisecond. */
  readonly honourRetryAfter?: boolean;
  /** Each request is abandoned after this many ms: the client closes its connection. */
  readonly hangUpAfterMs?: number;
  /** Each request has its own connection, like the probes of orchestrators. */
  readonly connectionPerRequest?: boolean;
  /** Latencies of successful requests that were due before, in ms since the start, do not count. */
  readonly warmUpMs?: number;
}

export type LoadMethod = 'GET' | 'POST' | 'DELETE';

/** `count` ids from `first` on. */
export interface IdRange {
  readonly first: number;
  readonly count: number;
}

/** Lists and writes of users, of whom few send most; each write creates a plant, or deletes the oldest. */
export interface Mix {
  /** The ids of the plants of each user before its first request. */
  readonly plants: readonly number[];
  /** The share of writes. */
  readonly writes: number;
  /** After so many requests a client closes its connection after a response, or hangs up before it. */
  readonly closesEvery: number;
  readonly hangsUpEvery: number;
}

/** Requests are due at equal intervals, however slow the responses are. */
export interface ConstantRate {
  readonly perSecond: number;
  /** Most open connections. Requests beyond that wait, and their waiting counts as latency. */
  readonly connections: number;
  /** Whether all of them are in use, rather than as few as possible. */
  readonly inTurn?: boolean;
  /** How the generator waits for the next request: `precise` uses much processor time. `precise` by default. */
  readonly nap?: 'precise' | 'long';
}

/** Number of requests by outcome: an HTTP status, an error number, or the reason why there is no response. */
export type OutcomeCounts = Readonly<Record<string, number>>;

/** The number of responses by the latency that they did not exceed, in ms, in ascending order. */
export type Histogram = readonly (readonly [ms: number, count: number])[];

/** Latencies in ms; 0 if there are no responses. */
export interface Latencies {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
}

export interface GroupFigures {
  readonly name: string;
  readonly requests: number;
  readonly outcomes: OutcomeCounts;
  /** Requests with an outcome other than 2xx and 304. */
  readonly failures: number;
  readonly succeeded: Latencies;
  readonly failed: Latencies;
  /** Of those that succeeded. Each limit is 5 % above the one before it; those without a response are left out. */
  readonly histogram: Histogram;
  /** The number of users in the group, and of those with at least one success. */
  readonly users: number;
  readonly served: number;
  /** From the start until the last user's first success, in ms; absent unless all users were served. */
  readonly allServedMs?: number;
}

export interface Figures {
  readonly tookMs: number;
  /** By the groups' names. */
  readonly groups: Readonly<Record<string, GroupFigures>>;
}
