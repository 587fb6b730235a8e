/** What a load generator plays, and what it reports: plain data, since both cross a process boundary. */
export interface Workload {
  /** Where the service listens, e.g. `http://127.0.0.1:3000`. */
  readonly url: string;
  /** Random choices (arrival times) follow from it. */
  readonly seed: number;
  /** In ms; after it everything ends, finished or not. */
  readonly endsAfterMs: number;
  /** Played at the same time. */
  readonly groups: readonly ClientGroup[];
}

/** Clients that behave alike. A client has one connection and at most one request in flight. */
export interface ClientGroup {
  readonly name: string;
  /** Where its requests go, if not where those of the workload do. */
  readonly url?: string;
  /** Every request carries `tokenOf(user)`. */
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
  /** From the start of one request to the start of the next, in ms; absent: at once after the answer. */
  readonly everyMs?: number;
  /** Whether a client waits as `Retry-After` says before its next request, to the millisecond. */
  readonly honourRetryAfter?: boolean;
  /** Each request is abandoned after so many ms: the client closes its connection. */
  readonly hangUpAfterMs?: number;
  /** Each request on a connection of its own, as the probes of orchestrators are. */
  readonly connectionPerRequest?: boolean;
}

/** What became of requests: an HTTP status, the number of an error answer, or the reason why there is none. */
export type Outcomes = Readonly<Record<string, number>>;

/** In ms, of the answers that there were; 0 where there were none. */
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
  /** Requests with any outcome but 2xx and 304. */
  readonly failures: number;
  readonly succeeded: Latencies;
  readonly failed: Latencies;
  /** How many users the group has, and how many of them were answered with success at least once. */
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
