/** Replaces a secret in a shown value. The functions here expect well-formed values. */
export const MASK = '***';

/** Masks the password of a URL, and its query, which may contain another secret. */
export function withoutPassword(written: string): string {
  const url = new URL(written);
  if (url.password !== '') url.password = MASK;
  return withoutQuery(url.href);
}

/** Masks the query of a URL. */
export function withoutQuery(written: string): string {
  return written.replace(/[?#].*/su, `?${MASK}`);
}

/** Masks the tokens of `user:token,user:token`. */
export function withoutTokens(written: string): string {
  return written.replaceAll(/:[^:,]*(?=,|$)/gu, `:${MASK}`);
}
