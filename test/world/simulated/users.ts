import { parseUser } from '../../../src/application';

/** The users of a simulation. */
export const USERS = ['ada', 'bob', 'cleo', 'dan', 'eve', 'fay'].map((name) => parseUser(name)!);
