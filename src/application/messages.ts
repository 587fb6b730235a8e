/**
 * The message of an error and those of its causes. Node's error for a host with several addresses has no message of its
 * own, but one error for each address: then theirs are taken, each once.
 */
export function messagesOf(error: unknown): readonly string[] {
  if (!(error instanceof Error)) return [String(error)];
  const { name, message, cause, errors = [] } = error as Error & { readonly errors?: readonly unknown[] };
  const own = message || [...new Set(errors.flatMap(messagesOf))].join(', ') || name;
  return cause instanceof Error ? [own, ...messagesOf(cause)] : [own];
}

/** An error and its causes, on one line and without a stack. */
export function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return [error.name, ...messagesOf(error)].join(': ');
}
