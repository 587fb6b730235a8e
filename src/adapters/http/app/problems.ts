/** The error catalogue of HTTP, and the mapping of errors to it. */
import {
  AuthenticationUnavailable,
  FAILURES,
  type Problem,
  REJECTED,
  TOKEN_FAULTS,
  type TokenFault,
  failureOf,
} from '../../../application';
import type { Rejection } from '../../../domain';
import { OutcomeUnknown, StoreUnavailable, UNAVAILABLE_REASONS } from '../../../event-sourcing';

/** Every possible failure of a request. A number begins with the status. The numbers never change. */
export const PROBLEMS = {
  ...FAILURES,
  malformedHttp: { error: 40000, message: 'the request is not well-formed HTTP' },
  badPathId: {
    error: 40005,
    message:
      'the id in the path must be a decimal integer from -2^63 to 2^63-1, written without leading zeros, plus sign or escapes',
  },
  noSuchPath: { error: 40400, message: 'there is nothing at this path' },
  methodNotAllowed: { error: 40500, message: 'the method is not allowed here; Allow lists those that are' },
  tooSlow: { error: 40800, message: 'the request did not arrive in time' },
  bodyTooLarge: { error: 41300, message: 'the body is too large' },
  unsupportedBody: {
    error: 41500,
    message: 'the body must be application/json in UTF-8, without a content encoding',
  },
  tooManyRequests: {
    error: 42900,
    message: 'too many requests of this user are in flight; nothing was changed',
  },
  headersTooLarge: { error: 43100, message: 'the header is too large or has too many fields' },
} as const satisfies Readonly<Record<string, Problem>>;

/** A failure of the catalogue. */
export type FailureKind = keyof typeof PROBLEMS;

/** The status of the response to a failure. */
export function statusOf({ error }: Problem): number {
  return Math.floor(error / 100);
}

/** Why requests get 401, 429 or 5xx, for the log and the metrics: those of `StoreUnavailable`, and others. */
export const FAILURE_REASONS = [
  ...UNAVAILABLE_REASONS,
  ...(['responses', 'bodies', 'unknown_outcome', 'authentication', 'user_requests', 'bug'] as const),
  'no_token',
  ...TOKEN_FAULTS.map((fault): `token_${TokenFault}` => `token_${fault}`),
] as const;

export type Headers = Readonly<Record<string, string>>;

/**
 * The failure of a request with `problem`. The message is sent to the client: it names the member and the rule, and
 * never reflects input.
 */
export class HttpProblem extends Error {
  constructor(
    readonly problem: Problem,
    message: string = problem.message,
    readonly headers: Headers = {},
    /** One of {@link FAILURE_REASONS}, or why a probe gets 503. */
    readonly reason?: string,
  ) {
    super(message);
  }

  get status(): number {
    return statusOf(this.problem);
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

/** The problems of commands that the domain rejects. Created once: rejections are frequent, and a stack is expensive. */
export const REJECTIONS: Readonly<Record<Rejection, HttpProblem>> = {
  'id-taken': new HttpProblem(REJECTED['id-taken']),
  'no-such-plant': new HttpProblem(REJECTED['no-such-plant']),
};

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

/** The problem of an error. */
export function problemOf(error: unknown): HttpProblem {
  if (error instanceof HttpProblem) return error;
  return new HttpProblem(error instanceof Overloaded ? PROBLEMS.unavailable : failureOf(error));
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
 * `Retry-After` in whole seconds: the time of the error, rounded up, plus a random jitter. The maximum of the jitter is a
 * quarter of that time, and at least one second. So clients that were refused together do not retry together.
 * @param random from 0 to below 1.
 */
export function retryAfterSeconds(error: unknown, random: () => number): number {
  const ms = error instanceof StoreUnavailable ? error.retryAfterMs : undefined;
  const seconds = Math.max(1, Math.ceil((ms ?? RETRY_AFTER_MS) / 1000));
  return seconds + Math.floor(random() * (Math.max(1, Math.floor(seconds / 4)) + 1));
}
