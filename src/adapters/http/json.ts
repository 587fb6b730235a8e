import { parse } from 'lossless-json';
import { plantIdFromJsonNumber } from '../../domain';

/** Strict: an ill-formed byte sequence throws instead of turning into U+FFFD, and a BOM is not swallowed. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * The value of a JSON text (RFC 8259) in UTF-8, where JSON.parse is not exact
 * enough: a number that is an int64 comes as an exact bigint, and a member
 * that occurs twice with different values is refused. Throws TypeError
 * (encoding), SyntaxError (grammar, a BOM, duplicates) or RangeError (nested
 * deeper than the stack).
 */
export function parseJson(bytes: Uint8Array): unknown {
  return parse(utf8.decode(bytes), undefined, number);
}

function number(literal: string): bigint | number {
  const int64 = plantIdFromJsonNumber(literal);
  return int64 === undefined ? Number(literal) : BigInt(int64);
}
