/** Strict: an ill-formed byte sequence throws instead of becoming U+FFFD, and a BOM is not skipped. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** How deep arrays and objects may be nested (RFC 8259, 9 allows a limit). */
const MAX_JSON_DEPTH = 1000;

/** A number as it was written: exact, however large or long. */
export class JsonNumber {
  constructor(readonly literal: string) {}
}

/**
 * The value of a JSON text (RFC 8259) in UTF-8, exactly: a number is a {@link JsonNumber}, and a member that occurs
 * twice must have equal values. Of the value, only the literal of a long number keeps the text in memory. Throws TypeError (encoding),
 * SyntaxError (grammar, a BOM, unequal duplicates) or RangeError (nested deeper than {@link MAX_JSON_DEPTH}).
 */
export function parseJson(bytes: Uint8Array): unknown {
  return new JsonReader(utf8.decode(bytes)).read();
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const [QUOTE, BACKSLASH, SPACE] = [0x22, 0x5c, 0x20];
/** Shorter slices of a string are copies; a longer one is a view that keeps the whole string in memory. */
const SHORTEST_VIEW = 13;

/** A recursive descent through one text: each method consumes what it is named after. */
class JsonReader {
  #at = 0;
  #depth = 0;

  constructor(private readonly text: string) {}

  read(): unknown {
    const value = this.#value();
    if (this.#next() !== undefined) throw new SyntaxError('more than one value');
    return value;
  }

  #value(): unknown {
    switch (this.#next()) {
      case '{':
        return this.#object();
      case '[':
        return this.#array();
      case '"':
        return this.#string();
      case 't':
        return this.#word('true', true);
      case 'f':
        return this.#word('false', false);
      case 'n':
        return this.#word('null', null);
      default:
        return this.#number();
    }
  }

  #object(): object {
    this.#enter();
    const members: Record<string, unknown> = {};
    if (this.#leave('}')) return members;
    do {
      if (this.#next() !== '"') throw new SyntaxError('no name of a member');
      const name = this.#string();
      if (!this.#skip(':')) throw new SyntaxError('no colon');
      setMember(members, name, this.#value());
    } while (this.#skip(','));
    if (!this.#leave('}')) throw new SyntaxError('no end of an object');
    return members;
  }

  #array(): unknown[] {
    this.#enter();
    const items: unknown[] = [];
    if (this.#leave(']')) return items;
    do items.push(this.#value());
    while (this.#skip(','));
    if (!this.#leave(']')) throw new SyntaxError('no end of an array');
    return items;
  }

  #enter(): void {
    if (++this.#depth > MAX_JSON_DEPTH) throw new RangeError('nested too deep');
    this.#at++;
  }

  #leave(end: string): boolean {
    const left = this.#skip(end);
    if (left) this.#depth--;
    return left;
  }

  #string(): string {
    const start = this.#at;
    let plain = true;
    let end = start + 1;
    for (let code; (code = this.text.charCodeAt(end)) !== QUOTE; end++) {
      if (Number.isNaN(code)) throw new SyntaxError('no end of a string');
      if (code < SPACE || code === BACKSLASH) plain = false;
      if (code === BACKSLASH) end++;
    }
    this.#at = end + 1;
    if (plain && end - start <= SHORTEST_VIEW) return this.text.slice(start + 1, end);
    // Checks escapes and refuses control characters; its result is a copy.
    return JSON.parse(this.text.slice(start, this.#at)) as string;
  }

  #number(): JsonNumber {
    NUMBER.lastIndex = this.#at;
    if (!NUMBER.test(this.text)) throw new SyntaxError('no value');
    const literal = this.text.slice(this.#at, NUMBER.lastIndex);
    this.#at = NUMBER.lastIndex;
    return new JsonNumber(literal);
  }

  #word<T>(word: string, value: T): T {
    if (!this.text.startsWith(word, this.#at)) throw new SyntaxError('no value');
    this.#at += word.length;
    return value;
  }

  /** The next character that is no white space. */
  #next(): string | undefined {
    for (;;) {
      const character = this.text[this.#at];
      if (character !== ' ' && character !== '\n' && character !== '\r' && character !== '\t')
        return character;
      this.#at++;
    }
  }

  #skip(character: string): boolean {
    const found = this.#next() === character;
    if (found) this.#at++;
    return found;
  }
}

function setMember(members: Record<string, unknown>, name: string, value: unknown): void {
  if (Object.hasOwn(members, name)) {
    if (!sameJsonValue(members[name], value)) throw new SyntaxError('a member twice, with different values');
  } else if (name === '__proto__') {
    // An assignment would set the prototype.
    Object.defineProperty(members, name, { value, enumerable: true });
  } else {
    members[name] = value;
  }
}

/** Whether two values are equal: numbers as exact decimals, objects regardless of the order of their members. */
function sameJsonValue(a: unknown, b: unknown): boolean {
  if (a instanceof JsonNumber && b instanceof JsonNumber) return sameNumber(a.literal, b.literal);
  if (!isObject(a) || !isObject(b)) return a === b;
  if (a instanceof JsonNumber || b instanceof JsonNumber) return false;
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

const DECIMAL = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]\+?(.+))?$/;
const LEADING_ZEROS = /^(-?)0+(?=[0-9])/;
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

const ZERO: Decimal = { coefficient: '0', exponent: 0n };

/** `undefined` if the exponent is too long. */
function decimal(literal: string): Decimal | undefined {
  const [, sign = '', whole = '', fraction = '', written = '0'] = DECIMAL.exec(literal)!;
  const digits = whole + fraction;
  let start = 0;
  while (digits[start] === '0') start++;
  if (start === digits.length) return ZERO;
  const exponent = written.replace(LEADING_ZEROS, '$1');
  if (exponent.length > MAX_EXPONENT_LENGTH) return undefined;
  let end = digits.length;
  while (digits[end - 1] === '0') end--;
  return {
    coefficient: sign + digits.slice(start, end),
    exponent: BigInt(exponent) + BigInt(whole.length - end),
  };
}
