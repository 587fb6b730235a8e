/**
 * The name of a stream: 1–255 characters (Unicode code points) of well-formed
 * Unicode. Two streams are the same exactly when their names are equal.
 */
declare const brand: unique symbol;

export type StreamName = string & { readonly [brand]: 'StreamName' };

export const STREAM_NAME_RULE = '1 to 255 characters of well-formed Unicode';

/** `text` as a stream name; `undefined` if it violates {@link STREAM_NAME_RULE}. */
export function parseStreamName(text: string): StreamName | undefined {
  return /^.{1,255}$/su.test(text) && text.isWellFormed() ? (text as StreamName) : undefined;
}
