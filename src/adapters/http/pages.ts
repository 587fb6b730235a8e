import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { User } from '../../application';
import { type Head, isSameHead } from '../../event-sourcing';
import { PerKeyCounter } from './per-key-counter';
import { HttpFailure, FAILURES } from './failures';
import type { FairScheduler } from './turns';

const CHUNK_CHARACTERS = 64 * 1024;
const MAX_PLANTS_AT_ONCE = 256;
/** Each cached page counts ENTRY_BYTES more than its text, for the objects around it. */
const MAX_CACHED_BYTES = 64 * 2 ** 20;
const ENTRY_BYTES = 1024;
/**
 * How many long pages may be sent at the same time, to one user and to all users. Each takes the
 * memory of up to two chunks. Even beyond MAX_LONG, each user may receive one.
 */
const MAX_LONG_EACH = 32;
const MAX_LONG = 512;

interface CachedText {
  readonly query: string;
  readonly head: Head;
  readonly text: Buffer;
}

export interface Listed {
  readonly page: Iterable<object> & { readonly size: number; readonly next: number | undefined };
  readonly head: Head;
}

/**
 * `renderChunks` returns its last chunk instead of yielding it, so the first result of a short page
 * is already `done`.
 */
type Chunk = IteratorResult<string, string>;

/**
 * Renders pages of lists as JSON. A page that fits in one chunk is short, and the latest short page
 * of each user is cached. A longer page is sent chunk by chunk, so that it never is in memory as a
 * whole. Its further chunks are long work of the scheduler, and so is the first chunk of a page of
 * more than MAX_PLANTS_AT_ONCE plants.
 */
export class Pages {
  readonly #cached = new Map<User, CachedText>();
  readonly #long = new PerKeyCounter<User>();
  #bytes = 0;

  constructor(
    private readonly scheduler: Pick<FairScheduler, 'do'>,
    private readonly readTimeoutMs: number,
    private readonly maxCachedBytes = MAX_CACHED_BYTES,
  ) {}

  get cachedBytes(): number {
    return this.#bytes;
  }

  get streaming(): number {
    return this.#long.total;
  }

  /**
   * Renders the page that `query` selects from the list of a user. A long page is a stream, which
   * ends early if its client reads too slowly. Throws a 503 if too many long pages are being sent.
   */
  body(
    user: User,
    query: string,
    { page, head }: Listed,
  ): Buffer | Readable | Promise<Buffer | Readable> {
    const cached = this.#cached.get(user);
    if (cached?.query === query && isSameHead(cached.head, head)) return cached.text;
    const chunks = renderChunks(page);
    const next = () => chunks.next();
    const first = page.size > MAX_PLANTS_AT_ONCE ? this.scheduler.do(user, next) : next();
    const bodyFrom = (chunk: Chunk) => {
      if (!chunk.done) return this.#stream(user, chunk, next);
      const text = exactBuffer(chunk.value);
      this.#keep(user, { query, head, text });
      return text;
    };
    return first instanceof Promise ? first.then(bodyFrom) : bodyFrom(first);
  }

  #stream(user: User, first: Chunk, next: () => Chunk): Readable {
    if (this.#long.of(user) >= (this.streaming < MAX_LONG ? MAX_LONG_EACH : 1))
      throw new HttpFailure(FAILURES.unavailable, { reason: 'long_lists' });
    this.#long.add(user, 1);
    const { scheduler } = this;
    const timer = setTimeout(() => stream.destroy(), this.readTimeoutMs);
    const read = async function* () {
      for (let chunk = first; ; chunk = await scheduler.do(user, next)) {
        timer.refresh();
        yield chunk.value;
        if (chunk.done) return;
      }
    };
    const stream = Readable.from(read(), { objectMode: false, highWaterMark: 1 });
    return stream.once('close', () => {
      clearTimeout(timer);
      this.#long.add(user, -1);
    });
  }

  #keep(user: User, entry: CachedText): void {
    this.#forget(user);
    this.#cached.set(user, entry);
    this.#bytes += ENTRY_BYTES + entry.text.length;
    for (const oldest of this.#cached.keys()) {
      if (this.#bytes <= this.maxCachedBytes || oldest === user) return;
      this.#forget(oldest);
    }
  }

  #forget(user: User): void {
    const entry = this.#cached.get(user);
    if (entry === undefined) return;
    this.#cached.delete(user);
    this.#bytes -= ENTRY_BYTES + entry.text.length;
  }
}

function* renderChunks(items: Iterable<object>): Generator<string, string> {
  let text = '[';
  let separator = '';
  for (const item of items) {
    if (text.length >= CHUNK_CHARACTERS) {
      yield text;
      text = '';
    }
    text += separator + JSON.stringify(item);
    separator = ',';
  }
  return `${text}]`;
}

/**
 * `Buffer.from` may return a slice of Node's pool of 8 KiB. A cached slice would keep the whole
 * pool in memory.
 */
function exactBuffer(text: string): Buffer {
  const buffer = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  buffer.write(text);
  return buffer;
}

/** ASCII characters that an entity tag may contain (RFC 9110, 8.8.3). */
const TAG_CHARACTERS = /^[!#-~]{1,128}$/;

/**
 * Returns a strong tag, because the commit identifies one state of the user's list, and the URL
 * identifies one page of it.
 */
export function entityTag({ version, commit }: Head): string {
  // The head of a list that was never changed has an empty commit. Our commit ids match, but those of
  // a different store need not.
  if (version === 0 || TAG_CHARACTERS.test(commit)) return `"${version}-${commit}"`;
  return `"${version}-${createHash('sha256').update(commit, 'utf16le').digest('base64url')}"`;
}
