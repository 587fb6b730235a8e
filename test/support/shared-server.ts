/** Where a server may come from, in order of preference. Each resolves with its URL and its end. */
type Sources = Readonly<Record<string, () => Promise<[url: string, end?: () => Promise<unknown>]>>>;

/** A server that ordinary suites share. It is searched for when the first one needs it. Called outside of any suite. */
export function sharedServer(
  kind: string,
  sources: Sources,
): () => Promise<{ readonly url: string } | { readonly reason: string }> {
  let end: (() => Promise<unknown>) | undefined;
  // This applies to the whole run.
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
