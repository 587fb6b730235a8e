/**
 * Returns the messages of an error and of its causes. Node's error for a host with several
 * addresses has no message itself, but contains an error for each address: in that case their
 * messages are returned, each of them once.
 */
export function messagesOf(error: unknown): readonly string[] {
  if (!(error instanceof Error)) return [String(error)];
  const {
    name,
    message,
    cause,
    errors = [],
  } = error as Error & { readonly errors?: readonly unknown[] };
  const own = message || [...new Set(errors.flatMap(messagesOf))].join(', ') || name;
  if (!(cause instanceof Error)) return [own];
  const causes = messagesOf(cause);
  // Whoever wraps an error may take over its message.
  return causes[0] === own ? causes : [own, ...causes];
}

/** Describes an error and its causes on one line, without a stack trace. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return [error.name, ...messagesOf(error)].join(': ');
}
