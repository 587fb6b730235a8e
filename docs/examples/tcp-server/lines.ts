const MAX_LINE = 64 * 1024;

/** The JSON of each line. Throws if one is too long, not UTF-8, not JSON or not finished. */
export async function* linesOf(bytes: AsyncIterable<Buffer>): AsyncGenerator<unknown> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let rest = Buffer.alloc(0);
  for await (const chunk of bytes) {
    rest = Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf('\n'); end !== -1; end = rest.indexOf('\n')) {
      yield JSON.parse(decoder.decode(rest.subarray(0, end)));
      rest = rest.subarray(end + 1);
    }
    if (rest.length > MAX_LINE) throw new Error(`a line must have ${MAX_LINE} bytes at most`);
  }
  if (rest.length > 0) throw new Error('the last line is not finished');
}
