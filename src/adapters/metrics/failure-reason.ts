import { AuthenticationUnavailable } from '../../application';
import { OutcomeUnknown, StoreUnavailable, UNAVAILABLE_REASONS } from '../../event-sourcing';

/** The values of the label `reason`: those of `StoreUnavailable`, and four of other failures. */
export const FAILURE_REASONS = [
  ...UNAVAILABLE_REASONS,
  ...(['unknown_outcome', 'authentication', 'user_requests', 'bug'] as const),
] as const;

export type FailureReason = (typeof FAILURE_REASONS)[number];

/** Why a request failed with 429, or with `error`. */
export function failureReason(status: number, error: unknown): FailureReason {
  if (status === 429) return 'user_requests';
  if (error instanceof StoreUnavailable) return error.reason;
  if (error instanceof OutcomeUnknown) return 'unknown_outcome';
  return error instanceof AuthenticationUnavailable ? 'authentication' : 'bug';
}
