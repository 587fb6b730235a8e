/**
 * Whose plants: the name a token speaks for. 1–255 characters (Unicode code
 * points) of well-formed Unicode; the same rule whichever authenticator it
 * came from. Two users are the same exactly when their names are equal.
 */
declare const brand: unique symbol;

export type User = string & { readonly [brand]: 'User' };

export const USER_RULE = '1 to 255 characters of well-formed Unicode';

/** `text` as a user, or `undefined` where it breaks {@link USER_RULE}. */
export function parseUser(text: string): User | undefined {
  return /^.{1,255}$/su.test(text) && text.isWellFormed() ? (text as User) : undefined;
}
