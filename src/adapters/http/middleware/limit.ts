import type { User } from '../../../application';
import { type Handler, type State, onceSent } from '../context';
import { HttpProblem, PROBLEMS } from '../problems';
import { PerKeyCounter } from '../per-key-counter';

/** Bounds the requests of one user in flight: each counts until its work has ended and its response has been sent. */
export function limitUsers(max: number): Handler {
  const inFlight = new PerKeyCounter<User>();
  return (ctx, next) => {
    const { user } = ctx.state as Partial<State>;
    if (user === undefined) return next();
    if (inFlight.of(user) >= max)
      throw new HttpProblem(PROBLEMS.tooManyRequests, { reason: 'user_requests' });
    inFlight.add(user, 1);
    const handled = next();
    const leave = () => onceSent(ctx, () => inFlight.add(user, -1));
    handled.then(leave, leave);
    return handled;
  };
}
