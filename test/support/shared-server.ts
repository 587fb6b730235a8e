/**
 * The ways to get a server, in order of preference. Each resolves with a URL and a function that
 * stops the server.
 */
type Sources = Readonly<Record<string, () => Promise<[url: string, end?: () => Promise<unknown>]>>>;

/**
 * A server that suites share. It is started when the first suite needs it. Call this outside of any
 * suite, because its `after` hook must run at the end of the whole run.
 */
export function sharedServer(
  kind: string,
  sources: Sources,
): () => Promise<{ readonly url: string } | { readonly reason: string }> {
  let end: (() => Promise<unknown>) | undefined;
  after(() => end?.());

  async function open(): Promise<{ url: string } | { reason: string }> {
    let reason = `no ${kind} here`;
    for (const [name, start] of Object.entries(sources))
      try {
        const [url, stop] = await start();
        end = stop;
        console.log(`${kind} shared by the suites: ${name} (${new URL(url).host})`);
        return { url };
      } catch (error) {
        reason += `; ${name}: ${(error as Error).message}`;
      }
    return { reason };
  }

  let shared: ReturnType<typeof open> | undefined;
  return () => (shared ??= open());
}
