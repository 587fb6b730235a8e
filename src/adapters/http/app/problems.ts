/** The error catalogue, and the mapping of errors to it. */
import { AuthenticationUnavailable, TOKEN_FAULTS, type TokenFault } from '../../../application';
import { OutcomeUnknown, StoreUnavailable, UNAVAILABLE_REASONS } from '../../../event-sourcing';
import type { Rejection } from '../../../domain';

export interface Problem {
  readonly status: number;
  readonly error: number;
  readonly message: string;
}

/** Every possible failure of a request. The numbers are part of the interface and never change. */
export const PROBLEMS = {
  malformedHttp: { status: 400, error: 40000, message: 'the request is not well-formed HTTP' },
  malformedJson: { status: 400, error: 40001, message: 'the body is not well-formed JSON in UTF-8' },
  invalidPlant: { status: 400, error: 40002, message: 'the body is not a NewPlant' },
  idTaken: { status: 400, error: 40003, message: 'id is taken by a living plant' },
  badQuery: { status: 400, error: 40004, message: 'the query is not well-formed' },
  badPathId: {
    status: 400,
    error: 40005,
    message:
      'the id in the path must be a decimal integer from -2^63 to 2^63-1, written without leading zeros, plus sign or escapes',
  },
  noCredentials: { status: 401, error: 40100, message: 'a bearer token is required' },
  badCredentials: { status: 401, error: 40101, message: 'the bearer token is not valid' },
  noSuchPath: { status: 404, error: 40400, message: 'there is nothing at this path' },
  noSuchPlant: { status: 404, error: 40401, message: 'there is no plant with this id' },
  methodNotAllowed: {
    status: 405,
    error: 40500,
    message: 'the method is not allowed here; Allow lists those that are',
  },
  tooSlow: { status: 408, error: 40800, message: 'the request did not arrive in time' },
  bodyTooLarge: { status: 413, error: 41300, message: 'the body is too large' },
  unsupportedBody: {
    status: 415,
    error: 41500,
    message: 'the body must be application/json in UTF-8, without a content encoding',
  },
  tooManyRequests: {
    status: 429,
    error: 42900,
    message: 'too many requests of this user are in flight; nothing was changed',
  },
  headersTooLarge: { status: 431, error: 43100, message: 'the header is too large or has too many fields' },
  bug: { status: 500, error: 50000, message: 'the service failed; this is not your fault' },
  storeUnavailable: {
    status: 503,
    error: 50300,
    message: 'the service cannot do this now; nothing was changed',
  },
  outcomeUnknown: {
    status: 503,
    error: 50301,
    message: 'the write was not confirmed in time and may or may not have happened; repeat it',
  },
} as const satisfies Record<string, Problem>;

/** Why requests get 401, 429 or 5xx, for the log and the metrics: those of `StoreUnavailable`, and others. */
export const FAILURE_REASONS = [
  ...UNAVAILABLE_REASONS,
  ...(['responses', 'bodies', 'unknown_outcome', 'authentication', 'user_requests', 'bug'] as const),
  'no_token',
  ...TOKEN_FAULTS.map((fault): `token_${TokenFault}` => `token_${fault}`),
] as const;

export type FailureReason = (typeof FAILURE_REASONS)[number];

export type Headers = Readonly<Record<string, string>>;

/**
 * The failure of a request with `problem`. The message is sent to the client: it names the member and the rule, and
 * never reflects input.
 */
export class HttpProblem extends Error {
  override readonly name = 'HttpProblem';

  constructor(
    readonly problem: Problem,
    message: string = problem.message,
    readonly headers: Headers = {},
    /** A {@link FailureReason}, or why a probe gets 503. */
    readonly reason?: string,
  ) {
    super(message);
  }

  /** The body of the response: the contract's Error as JSON. */
  get body(): string {
    return JSON.stringify({ error: this.problem.error, message: this.message });
  }
}

/** Closes the connection after the response, because the rest of the body is not read. */
export function bodyTooLarge(limit: number): HttpProblem {
  const message = `the body is larger than ${limit} bytes`;
  return new HttpProblem(PROBLEMS.bodyTooLarge, message, { Connection: 'close' });
}

/** Closes the connection after the response, because the start of the next request is unknown. */
export function malformedHttp(message?: string): HttpProblem {
  return new HttpProblem(PROBLEMS.malformedHttp, message, { Connection: 'close' });
}

/** Created once, because rejections are frequent and a stack costs more than the response. */
const REJECTED: Readonly<Record<Rejection, HttpProblem>> = {
  'id-taken': new HttpProblem(PROBLEMS.idTaken),
  'no-such-plant': new HttpProblem(PROBLEMS.noSuchPlant),
};

/** The problem of a command that the domain rejects. */
export function rejected(rejection: Rejection): HttpProblem {
  return REJECTED[rejection];
}

/** A bound of this adapter is reached. The request has changed nothing. */
export class Overloaded extends Error {
  override readonly name = 'Overloaded';

  /** @param reason a label of the metric of failed requests, as that of {@link StoreUnavailable}. */
  constructor(
    message: string,
    readonly reason: 'responses' | 'bodies' = 'responses',
  ) {
    super(message);
  }
}

const UNAVAILABLE = [StoreUnavailable, AuthenticationUnavailable, Overloaded];

/** The problem of an error. */
export function problemOf(error: unknown): HttpProblem {
  if (error instanceof HttpProblem) return error;
  if (error instanceof OutcomeUnknown) return new HttpProblem(PROBLEMS.outcomeUnknown);
  if (UNAVAILABLE.some((Unavailable) => error instanceof Unavailable))
    return new HttpProblem(PROBLEMS.storeUnavailable);
  return new HttpProblem(PROBLEMS.bug);
}

/** Why a request failed with `error`; `undefined` for a fault of the client other than its token. */
export function failureReason(error: unknown): string | undefined {
  if (error instanceof HttpProblem) return error.reason;
  if (error instanceof OutcomeUnknown) return 'unknown_outcome';
  if (error instanceof AuthenticationUnavailable) return 'authentication';
  const { reason } = (error ?? {}) as { readonly reason?: unknown };
  return FAILURE_REASONS.find((known) => known === reason) ?? 'bug';
}

/** In ms. A store that is available again is used within two seconds. */
const RETRY_AFTER_MS = 1000;

/**
 * `Retry-After` in whole seconds: the time of the error, rounded up, and a random addition. The addition is at most a
 * quarter of it, or one second if that is more, so that clients that were refused together do not retry together.
 * @param random from 0 to below 1.
 */
export function retryAfterSeconds(error: unknown, random: () => number): number {
  const ms = error instanceof StoreUnavailable ? error.retryAfterMs : undefined;
  const seconds = Math.max(1, Math.ceil((ms ?? RETRY_AFTER_MS) / 1000));
  return seconds + Math.floor(random() * (Math.max(1, Math.floor(seconds / 4)) + 1));
}
