import type { User } from '../../../application';
import type { Handler } from '../context';
import { HttpFailure, FAILURES } from '../failures';
import { PerKeyCounter } from '../per-key-counter';

/**
 * Throws a 429 if the user already has `max` requests in flight. A request is in flight until its
 * work has ended and its response has been sent.
 */
export function limitRequestsPerUser(max: number): Handler {
  const inFlight = new PerKeyCounter<User>();
  return (ctx, next) => {
    const { user } = ctx.state;
    if (user === undefined) return next();
    if (inFlight.of(user) >= max)
      throw new HttpFailure(FAILURES.tooManyRequests, { reason: 'user_requests' });
    inFlight.add(user, 1);
    const handled = next();
    // Its work and its response.
    let unfinished = 2;
    const finish = () => {
      unfinished--;
      if (unfinished === 0) inFlight.add(user, -1);
    };
    void handled.then(finish, finish);
    // Node emits `close` only for a response that has a connection. A pipelined response has none
    // until the earlier ones are sent. `inOrder` waits for these, but does not see those of
    // middleware in front of the app. (`once` would take longer than all the other work here.)
    if (ctx.res.socket?.writable) ctx.res.on('close', finish);
    else finish();
    return handled;
  };
}
