/** In place of a secret where `--print-config` shows a value. What follows takes values that were found well-formed. */
export const MASK = '***';

/** Of a URL. Its query may hold another one. */
export function withoutPassword(written: string): string {
  const url = new URL(written);
  if (url.password !== '') url.password = MASK;
  return withoutQuery(url.href);
}

export function withoutQuery(written: string): string {
  return written.replace(/[?#].*/su, `?${MASK}`);
}

/** Of `user:token,user:token`. */
export function withoutTokens(written: string): string {
  return written.replaceAll(/:[^:,]*(?=,|$)/gu, `:${MASK}`);
}
