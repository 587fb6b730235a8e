/** The token of each user of the tests, apart from what starts a service: a process of clients needs no more. */
export function tokenOf(user: string): string {
  return `token-of-${user}`;
}
