import { AuthenticationUnavailable } from '../../application';
import { OutcomeUnknown, UNAVAILABLE_REASONS } from '../../event-sourcing';

/** The values of the label `reason`: those of `StoreUnavailable`, and those of other failures. */
export const FAILURE_REASONS = [
  ...UNAVAILABLE_REASONS,
  ...(['responses', 'bodies', 'unknown_outcome', 'authentication', 'user_requests', 'bug'] as const),
] as const;

export type FailureReason = (typeof FAILURE_REASONS)[number];

/** Why a request failed with 429, or with `error`: the `reason` of the error, if it has one. */
export function failureReason(status: number, error: unknown): FailureReason {
  if (status === 429) return 'user_requests';
  if (error instanceof OutcomeUnknown) return 'unknown_outcome';
  if (error instanceof AuthenticationUnavailable) return 'authentication';
  const { reason } = (error ?? {}) as { readonly reason?: unknown };
  return FAILURE_REASONS.find((known) => known === reason) ?? 'bug';
}
