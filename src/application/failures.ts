import { OutcomeUnknown, StoreUnavailable } from '../event-sourcing';
import type { Rejection } from '../domain';
import { AuthenticationUnavailable } from './authenticator';

/** A failed request, as a client of any transport sees it. */
export interface Problem {
  /** The kind of failure. */
  readonly error: number;
  readonly message: string;
}

/** The failures that a request can have with any transport. The numbers are part of the interface and never change. */
export const FAILURES = {
  malformedJson: { error: 40001, message: 'the body is not well-formed JSON in UTF-8' },
  invalidPlant: { error: 40002, message: 'the body is not a NewPlant' },
  idTaken: { error: 40003, message: 'id is taken by a living plant' },
  badQuery: { error: 40004, message: 'the query is not well-formed' },
  noCredentials: { error: 40100, message: 'a bearer token is required' },
  badCredentials: { error: 40101, message: 'the bearer token is not valid' },
  noSuchPlant: { error: 40401, message: 'there is no plant with this id' },
  bug: { error: 50000, message: 'the service failed; this is not your fault' },
  unavailable: { error: 50300, message: 'the service cannot do this now; nothing was changed' },
  outcomeUnknown: {
    error: 50301,
    message: 'the write was not confirmed in time and may or may not have happened; repeat it',
  },
} as const satisfies Readonly<Record<string, Problem>>;

/** The failure of a command that the domain rejects. */
export const REJECTED = {
  'id-taken': FAILURES.idTaken,
  'no-such-plant': FAILURES.noSuchPlant,
} as const satisfies Readonly<Record<Rejection, Problem>>;

/** The failure of a request whose use case has thrown `error`. */
export function failureOf(error: unknown): Problem {
  if (error instanceof OutcomeUnknown) return FAILURES.outcomeUnknown;
  const isUnavailable = error instanceof StoreUnavailable || error instanceof AuthenticationUnavailable;
  return isUnavailable ? FAILURES.unavailable : FAILURES.bug;
}
