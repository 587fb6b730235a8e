import fc from 'fast-check';
import { type User, parseUser } from '../../../src/application';

/** Any user there can be, and often one whose name looks like a part of a key, a path, an escape, or another’s name. */
export const anyUser: fc.Arbitrary<User> = fc
  .oneof(
    fc.string({ unit: 'binary', minLength: 1, maxLength: 255 }),
    fc.string({
      unit: fc.constantFrom(
        '{',
        '}',
        ':',
        '/',
        '%',
        '7',
        'B',
        'a',
        'A',
        ' ',
        '\0',
        '*',
        '🌱',
        'é',
        'e\u0301',
      ),
      minLength: 1,
      maxLength: 6,
    }),
    fc.constantFrom('🌱', '{', '}', ':', '/').map((character) => character.repeat(255)),
  )
  .map((text) => parseUser(Array.from(text).slice(0, 255).join(''))!);
