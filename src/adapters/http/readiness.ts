/** What the service can do now. A file of its own: it is public, and must not need Koa's types. */
export interface Readiness {
  readonly reads: boolean;
  readonly writes: boolean;
}
