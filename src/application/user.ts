import { STREAM_NAME_RULE, type StreamName, parseStreamName } from '../event-sourcing';

/** The owner of plants, as identified by a token. It is also the name of the stream with the user's events. */
export type User = StreamName;

export const USER_RULE = STREAM_NAME_RULE;

/** `text` as a user; `undefined` if it violates {@link USER_RULE}. */
export const parseUser: (text: string) => User | undefined = parseStreamName;
