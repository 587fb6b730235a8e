import { safeString } from '../event-sourcing';

/**
 * Returns the messages of an error and of its causes. Node's error for a host with several
 * addresses has no message itself, but contains an error for each address: in that case their
 * messages are returned, each of them once.
 */
export function messagesOf(error: unknown): readonly string[] {
  if (!(error instanceof Error)) return [safeString(error)];
  const messages: string[] = [];
  // The causes may form a cycle.
  const seen = new Set<Error>();
  for (let each: unknown = error; each instanceof Error && !seen.has(each); each = each.cause) {
    seen.add(each);
    const { name, message, errors = [] } = each as Error & { readonly errors?: readonly unknown[] };
    const own = message || [...new Set(errors.flatMap(messagesOf))].join(', ') || name;
    // Whoever wraps an error may take over its message.
    if (own !== messages.at(-1)) messages.push(own);
  }
  return messages;
}

/** Describes an error and its causes on one line, without a stack trace. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return safeString(error);
  return [error.name, ...messagesOf(error)].join(': ');
}
