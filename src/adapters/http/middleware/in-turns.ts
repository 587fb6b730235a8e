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
  // `authenticate` adds the user to a state later.
  const previousStates = new WeakMap<Socket, State>();
  return ({ req, state }, next) => {
    const previous = previousStates.get(req.socket);
    previousStates.set(req.socket, state);
    const lane = previous === undefined ? FIRST_REQUESTS : (previous.user ?? WITHOUT_USER);
    const turn = scheduler.admit(lane, previous === undefined);
    return turn === undefined ? next() : turn.then(next);
  };
}
