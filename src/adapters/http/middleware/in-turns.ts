import type { Socket } from 'node:net';
import type { Handler, State } from '../context';
import type { FairScheduler } from '../turns';

const FIRST_REQUESTS = Symbol('first requests');
const WITHOUT_USER = Symbol('without user');

/**
 * Lets users take turns. A request waits here before its own user is known, so its connection
 * counts for the user of the request before.
 */
export function inTurns(scheduler: FairScheduler): Handler {
  const states = new WeakMap<Socket, State>();
  return ({ req, state }, next) => {
    const latest = states.get(req.socket);
    states.set(req.socket, state);
    const lane = latest === undefined ? FIRST_REQUESTS : (latest.user ?? WITHOUT_USER);
    const turn = scheduler.next(lane, latest === undefined);
    return turn === undefined ? next() : turn.then(next);
  };
}
