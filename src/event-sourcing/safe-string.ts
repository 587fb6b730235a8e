/**
 * Converts a thrown value as `String` does, but never throws. `String` throws for some objects, for
 * example one without a prototype, and a catch clause that reports an error must not throw.
 */
export function safeString(thrown: unknown): string {
  try {
    return String(thrown);
  } catch {
    return 'a thrown value without a text';
  }
}
