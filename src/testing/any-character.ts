import fc from 'fast-check';

const [FIRST_SURROGATE, SURROGATES, CODE_POINTS] = [0xd800, 0x800, 0x11_0000];

/**
 * Any character of well-formed Unicode. The unit `binary` of fast-check generates the same ones,
 * but fills a map with all of them first, which takes longer than most tests. fast-check needs the
 * inverse, too: it generates texts of its own, such as `__proto__`, and shortens them when a test
 * fails.
 */
export const anyCharacter: fc.Arbitrary<string> = fc
  .nat(CODE_POINTS - SURROGATES - 1)
  .map(characterAt, indexOf);

function characterAt(index: number): string {
  return String.fromCodePoint(index < FIRST_SURROGATE ? index : index + SURROGATES);
}

function indexOf(character: unknown): number {
  const point = String(character).codePointAt(0) ?? 0;
  const index = point < FIRST_SURROGATE ? point : point - SURROGATES;
  if (characterAt(index) !== character) throw new Error('not one character');
  return index;
}
