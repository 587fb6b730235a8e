/** Texts that a store or a codec may easily change: for the `odd` events of {@link EventSamples}. */
export const ODD_TEXTS: readonly string[] = [
  'Büschelfarn, 観葉植物, نبتة',
  '🌵👩🏽‍🌾',
  'e\u0301 is not \u00e9',
  '"quoted" \\ and \'quoted\'',
  'null',
  '{"name":"Fern"}',
  '0123',
  ' blanks around ',
  'line\r\nbreak\ttab \u2028\u2029\u0085',
  'a \ufffd that was meant',
  '\0\x01\x7f\ufeff\uffff\u{10ffff}',
  '__proto__',
  'long '.repeat(10_000),
];
