import type { ServerResponse } from 'node:http';
import { StoreUnavailable } from '../../application';
import { malformedHttp } from './problems';

/**
 * Aborts when the work for `response` has become useless: when that is closed, or at `deadline` (by
 * `performance.now()`), then with a {@link StoreUnavailable}.
 */
export function abandonmentOf(response: ServerResponse, deadline: number): AbortSignal {
  const abandonment = new AbortController();
  const timer = setTimeout(() => {
    abandonment.abort(new StoreUnavailable('the answer was not ready in time'));
  }, deadline - performance.now());
  const close = () => {
    clearTimeout(timer);
    // Sent to no client.
    abandonment.abort(malformedHttp('the connection was closed before its answer'));
  };
  if (response.destroyed) close();
  else response.once('close', close);
  return abandonment.signal;
}
