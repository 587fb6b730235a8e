import { type Answer, whole } from './answer';
import type { Headers } from './problems';

/** A leaf, so that no browser asks for a favicon.ico. */
export const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Ctext y='13' font-size='13'%3E%F0%9F%8C%BF%3C/text%3E%3C/svg%3E";

/**
 * Answers with a page that has nothing from outside, whatever it says.
 * @param allowed what the page needs nevertheless, as directives of a Content-Security-Policy.
 */
export function page(html: string, allowed: readonly string[], headers?: Headers): Answer {
  const policy = [
    "default-src 'none'",
    "img-src 'self' data:",
    ...allowed,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  return whole(200, 'text/html; charset=utf-8', html, {
    ...headers,
    'Content-Security-Policy': policy.join('; '),
  });
}
