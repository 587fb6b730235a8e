/** The input and the report of a load generator: plain data, because both cross a process boundary. */
export interface Workload {
  /** The URL of the service, e.g. `http://127.0.0.1:3000`. */
  readonly url: string;
  /** The seed of the random arrival times. */
  readonly seed: number;
  /** In ms. Then everything ends, finished or not. */
  readonly endsAfterMs: number;
  /** Played at the same time. */
  readonly groups: readonly ClientGroup[];
}

/** Clients that behave alike. A client has one connection and at most one request in flight. */
export interface ClientGroup {
  readonly name: string;
  /** The URL of its requests, if different from that of the workload. */
  readonly url?: string;
  /** Every request has `tokenOf(user)`. */
  readonly users: readonly string[];
  /** Clients of each user; 1 by default. 0: one client for all users, which serves them one after the other. */
  readonly clientsPerUser?: number;
  /** GET these targets in turn; with `create`, GET and POST alternate. */
  readonly get?: readonly string[];
  /** POST plants with names of `nameLength` characters, and ids that are used once. */
  readonly create?: { readonly nameLength: number };
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
}

/** Number of requests by outcome: an HTTP status, an error number, or the reason why there is no response. */
export type Outcomes = Readonly<Record<string, number>>;

/** Latencies in ms; 0 if there are no responses. */
export interface Latencies {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export interface GroupFigures {
  readonly name: string;
  readonly requests: number;
  readonly outcomes: Outcomes;
  /** Requests with an outcome other than 2xx and 304. */
  readonly failures: number;
  readonly succeeded: Latencies;
  readonly failed: Latencies;
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
