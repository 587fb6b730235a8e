import type { Headers } from './problems';

/** Makes the `Retry-After` of an answer whose request may succeed after `ms` milliseconds. */
export type RetryAfter = (ms?: number) => Headers;

/** A store that is back serves again within two seconds. */
const DEFAULT_MS = 1000;

/**
 * Whole seconds, rounded up, plus jitter of up to a half of them and of at least up to one second: clients that were
 * refused together do not retry together.
 * @param random from 0 to below 1.
 */
export function retryAfterWith(random: () => number): RetryAfter {
  return (ms = DEFAULT_MS) => {
    const seconds = Math.max(1, Math.ceil(ms / 1000));
    const jitter = Math.floor(random() * (Math.max(1, Math.floor(seconds / 2)) + 1));
    return { 'Retry-After': String(seconds + jitter) };
  };
}
