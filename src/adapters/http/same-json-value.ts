/** Whether two values of `parseJson` are equal: numbers as exact decimals, objects whatever the order of their members. */
export function sameJsonValue(a: unknown, b: unknown): boolean {
  if (typeof a === 'symbol' && typeof b === 'symbol') return sameNumber(a.description!, b.description!);
  if (!isObject(a) || !isObject(b)) return a === b;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && sameJsonValue(a[name], b[name]))
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

const NUMBER = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE](.+))?$/;
/** A BigInt takes more than linear time to read: beyond this a literal equals only itself. */
const MAX_EXPONENT_LENGTH = 1000;

function sameNumber(a: string, b: string): boolean {
  if (a === b) return true;
  const [one, other] = [decimal(a), decimal(b)];
  return one !== undefined && one.coefficient === other?.coefficient && one.exponent === other.exponent;
}

interface Decimal {
  /** With its sign, without leading and trailing zeros. */
  readonly coefficient: string;
  /** Of ten. */
  readonly exponent: bigint;
}

/** `undefined` where the exponent is too long. The literal's value is not 0: that is an int64. */
function decimal(literal: string): Decimal | undefined {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = NUMBER.exec(literal)!;
  if (exponent.length > MAX_EXPONENT_LENGTH) return undefined;
  const digits = whole + fraction;
  let start = 0;
  while (digits[start] === '0') start++;
  let end = digits.length;
  while (digits[end - 1] === '0') end--;
  return {
    coefficient: sign + digits.slice(start, end),
    exponent: BigInt(exponent) + BigInt(whole.length - end),
  };
}
