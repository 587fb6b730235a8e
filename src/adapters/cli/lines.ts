/** Longest accepted line, in bytes: longer than any event that fits into the largest BODY_LIMIT. */
const MAX_LINE = 128 * 1024 * 1024;

const LINE_FEED = 0x0a;

/** The lines of `input`, each with its line feed; a last line without one is truncated. Holds one line at a time. */
export async function* linesOf(input: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let partial: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of input) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      const piece = chunk.subarray(start, end + 1);
      yield partial.length === 0 ? Buffer.from(piece) : Buffer.concat([...partial, piece]);
      partial = [];
      length = 0;
      start = end + 1;
    }
    if (start === chunk.length) continue;
    partial.push(chunk.subarray(start));
    length += chunk.length - start;
    if (length > MAX_LINE) break;
  }
  if (length > 0) yield Buffer.concat(partial);
}
