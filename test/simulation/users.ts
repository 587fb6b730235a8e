import { parseUser } from '../../src/application';

/** The users of a simulation. */
export const USERS = [parseUser('ada')!, parseUser('bob')!] as const;
