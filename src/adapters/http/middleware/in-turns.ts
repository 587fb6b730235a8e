import type { Socket } from 'node:net';
import type { Handler, State } from '../context';
import type { FairScheduler } from '../turns';

const FIRST_REQUESTS = Symbol('first requests');
const WITHOUT_USER = Symbol('without user');

/**
 * Starts the requests of all users alternately, a few in each turn of the event loop. A request
 * waits here before its own user is known, so it waits in the lane of the user of the previous
 * request of its connection.
 */
export function inTurns(scheduler: FairScheduler): Handler {
  // Keeps the state and not the user, because `authenticate` sets the user later.
  const previousStates = new WeakMap<Socket, State>();
  return ({ req, state }, next) => {
    const previous = previousStates.get(req.socket);
    previousStates.set(req.socket, state);
    const isFirst = previous === undefined;
    const lane = isFirst ? FIRST_REQUESTS : (previous.user ?? WITHOUT_USER);
    // A turn with a first request starts fewer requests, because more connections may be waiting,
    // and Node accepts one in each turn.
    const admission = scheduler.admit(lane, isFirst);
    return admission === undefined ? next() : admission.then(next);
  };
}
