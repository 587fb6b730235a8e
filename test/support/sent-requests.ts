import type { WireRequest } from './documented';

const NOTHING = Buffer.alloc(0);
const HEAD_END = '\r\n\r\n';
const REQUEST_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+) (\S+) HTTP\/1\.[01]$/;

/**
 * The requests that somebody's bytes are, one after the other, as far as they
 * are any: what is not plainly a request makes all that follows doubtful.
 */
export class SentRequests {
  #bytes: Buffer = NOTHING;
  #doubtful = false;

  add(bytes: string | Buffer): void {
    const some = typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes;
    this.#bytes = this.#bytes.length === 0 ? some : Buffer.concat([this.#bytes, some]);
  }

  /** The next one, also where its body has not been sent whole. `undefined` where nobody can tell. */
  next(): WireRequest | undefined {
    const request = this.#doubtful ? undefined : this.#take();
    if (request === undefined) this.#doubtful = true;
    return request;
  }

  #take(): WireRequest | undefined {
    // Empty lines before a request line are ignored (RFC 9112, 2.2).
    let start = 0;
    while (this.#bytes.toString('latin1', start, start + 2) === '\r\n') start += 2;
    const headEnd = this.#bytes.indexOf(HEAD_END, start);
    if (headEnd === -1) return undefined;
    const [requestLine = '', ...lines] = this.#bytes.toString('latin1', start, headEnd).split('\r\n');
    const [, method, target] = REQUEST_LINE.exec(requestLine) ?? [];
    const body = this.#bytes.subarray(headEnd + HEAD_END.length);
    const length = bodyLength(lines, body);
    if (method === undefined || target === undefined || length === undefined) return undefined;
    this.#bytes = body.subarray(length);
    return { method, target };
  }
}

/** `undefined` where the fields leave any doubt about it. */
function bodyLength(lines: readonly string[], body: Buffer): number | undefined {
  const framing = lines.filter((line) => /^(?:content-length|transfer-encoding)/i.test(line));
  if (framing.length === 0) return 0;
  const [, length] = /^content-length: *(\d+)$/i.exec(framing[0]!) ?? [];
  if (framing.length > 1) return undefined;
  if (length !== undefined) return Math.min(Number(length), body.length);
  return /^transfer-encoding: *chunked$/i.test(framing[0]!) ? chunkedLength(body) : undefined;
}

function chunkedLength(body: Buffer): number | undefined {
  for (let at = 0; ;) {
    const lineEnd = body.indexOf('\r\n', at);
    if (lineEnd === -1) return body.length;
    const [, size] = /^([\da-f]{1,8})(?:;.*)?$/i.exec(body.toString('latin1', at, lineEnd)) ?? [];
    if (size === undefined) return undefined;
    if (parseInt(size, 16) === 0) {
      // Behind the last chunk come trailers, if any, and an empty line.
      const end = body.indexOf(HEAD_END, lineEnd);
      return end === -1 ? body.length : end + HEAD_END.length;
    }
    at = lineEnd + 2 + parseInt(size, 16) + 2;
    if (at >= body.length) return body.length;
  }
}
