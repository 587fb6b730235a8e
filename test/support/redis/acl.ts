/** The rules of `ACL SETUSER` as a page has them, with a password that the tests know: `secret`. */
export function withPassword(rules: readonly string[]): string[] {
  return rules.map((rule) => rule.replace(/^>.*/, '>secret'));
}
