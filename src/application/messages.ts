import { safeString } from '../event-sourcing';

/**
 * Returns the messages of an error and of its causes. Node's error for a host with several
 * addresses has no message itself, but contains an error for each address: in that case their
 * messages are returned, each of them once.
 */
export function messagesOf(error: unknown): readonly string[] {
  return collectMessages(error, new Set());
}

/** Ignores the errors in `seen`, because causes and contained errors may form a cycle. */
function collectMessages(error: unknown, seen: Set<Error>): string[] {
  if (!(error instanceof Error)) return [safeString(error)];
  const messages: string[] = [];
  for (let each: unknown = error; each instanceof Error && !seen.has(each); each = each.cause) {
    seen.add(each);
    const { name, message, errors } = each as Error & { readonly errors?: unknown };
    const contained = Array.isArray(errors)
      ? errors.flatMap((one: unknown) => collectMessages(one, seen))
      : [];
    const own = message || [...new Set(contained)].join(', ') || name;
    // Code that wraps an error may repeat its message.
    if (own !== messages.at(-1)) messages.push(own);
  }
  return messages;
}

/** Describes an error and its causes on one line, without a stack trace. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return safeString(error);
  const messages = messagesOf(error);
  return (messages[0] === error.name ? messages : [error.name, ...messages]).join(': ');
}
