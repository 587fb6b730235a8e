/**
 * Plant identifiers: exact 64-bit signed integers, -2^63 … 2^63-1.
 *
 * A JavaScript number is exact only up to 2^53, so an id is its canonical decimal
 * text: no leading zeros, no plus sign, no `-0`. Two ids are equal exactly if their
 * texts are equal.
 */
declare const brand: unique symbol;

export type PlantId = string & { readonly [brand]: 'PlantId' };

/** The rule of an id in canonical text, for the sentence `id must be …`. */
export const PLANT_ID_RULE = 'a whole number from -2^63 to 2^63-1, without leading zeros';

const CANONICAL = /^(?:0|-?[1-9][0-9]{0,18})$/;
const JSON_NUMBER = /^(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/;
const MAX_DIGITS = 19;
const MAX_POSITIVE = '9223372036854775807';
const MAX_NEGATIVE = '9223372036854775808';

/** Parses canonical decimal text; `undefined` for any other (`01`, `+1`, `-0`, `1.0`, 2^63). */
export function parsePlantId(text: string): PlantId | undefined {
  if (!CANONICAL.test(text)) return undefined;
  const negative = text.startsWith('-');
  const digits = negative ? text.slice(1) : text;
  const bound = negative ? MAX_NEGATIVE : MAX_POSITIVE;
  // Decimal texts of equal length compare as their numbers.
  return digits.length < MAX_DIGITS || digits <= bound ? (independent(text) as PlantId) : undefined;
}

/** From this length on, V8 makes a substring a reference, which keeps the whole text in memory. */
const SLICED_LENGTH = 13;

function independent(canonical: string): string {
  return canonical.length < SLICED_LENGTH ? canonical : BigInt(canonical).toString();
}

/**
 * The canonical decimal text of a JSON number literal, exactly: `7`, `7.0`, `70e-1` and
 * `0.7E1` are 7, and `-0` is 0. `undefined` for a fraction (`0.99999999999999999`,
 * `1e-400`), and for more than 19 digits: {@link parsePlantId} checks the range. Linear
 * in the length of the literal, for any exponent.
 */
export function canonicalInteger(literal: string): string | undefined {
  const match = JSON_NUMBER.exec(literal);
  if (match === null) return undefined;
  const [sign, whole] = [match[1]!, match[2]!];
  const [fraction = '', exponent = 0] = match.slice(3);
  const digits = whole + fraction;

  let start = 0;
  while (digits[start] === '0') start++;
  let end = digits.length;
  while (end > start && digits[end - 1] === '0') end--;
  if (start === end) return '0';

  // Number of integer digits, from the first significant one.
  const integerDigits = whole.length - start + Number(exponent);
  if (integerDigits < end - start || integerDigits > MAX_DIGITS) return undefined;
  return sign + digits.slice(start, end).padEnd(integerDigits, '0');
}

/** The key of a plant in a map: the number that a short id spells, else the id. V8 looks a small number up faster. */
export type PlantKey = PlantId | number;

/** Up to this length an id is a small integer for V8, without an object. */
export const SHORT_ID = 9;

/** Injective, because ids are canonical. */
export function keyOf(id: PlantId): PlantKey {
  return id.length <= SHORT_ID ? Number(id) : id;
}
