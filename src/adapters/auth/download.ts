/**
 * The text at `url`, within bounds: 200 or nothing, no redirects (which could
 * lead anywhere), at most `maxBytes` after decompression, UTF-8. Rejects with
 * an error that says which of these it was.
 */
export async function download(url: URL, maxBytes: number, signal: AbortSignal): Promise<string> {
  const response = await fetch(url, {
    signal,
    redirect: 'error',
    headers: { accept: 'application/jwk-set+json, application/json' },
  });
  if (response.status !== 200 || response.body === null) {
    await response.body?.cancel();
    throw new Error(`answered with status ${response.status}`);
  }
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    // Leaving the loop also ends the transfer.
    if (length > maxBytes) throw new Error(`answered with more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
}
