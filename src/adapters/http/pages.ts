/** Pages of lists as JSON: the latest short text of each user is cached, long ones are streams. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Listing, User } from '../../application';
import type { Plant } from '../../domain';
import { type Head, isSameHead } from '../../event-sourcing';
import { PerKeyCounter } from './per-key-counter';
import { HttpProblem, PROBLEMS } from './problems';
import type { FairScheduler } from './turns';

/** Characters of a chunk of a list. A list of one chunk is short. */
const CHUNK = 64 * 1024;
/** Plants that are rendered at once. More are work for the scheduler. */
const FEW = 256;
/** Bytes of cached short texts, with what an entry takes besides its text. */
const MAX_CACHED = 64 * 2 ** 20;
const ENTRY_BYTES = 1024;
/** Long lists that are being sent, each with up to two chunks: of one user, and of all. Beyond the latter, each user has one. */
const MAX_LONG_EACH = 32;
const MAX_LONG = 512;

interface CachedText {
  readonly query: string;
  readonly head: Head;
  readonly text: Buffer;
}

export class Pages {
  /** The oldest first. */
  readonly #cached = new Map<User, CachedText>();
  readonly #long = new PerKeyCounter<User>();
  #bytes = 0;

  /** @param readTimeoutMs in which a client must read a chunk of a long list. */
  constructor(
    private readonly scheduler: Pick<FairScheduler, 'do'>,
    private readonly readTimeoutMs: number,
    private readonly maxCached = MAX_CACHED,
  ) {}

  /** Bytes of cached texts. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The number of long lists that are being sent. */
  get sent(): number {
    return this.#long.total;
  }

  /**
   * The JSON of what `query` selects from the list of a user: a text, or for a long page a stream, which ends early if its
   * reader is too slow.
   */
  body(user: User, query: string, { page, head }: Listing): Buffer | Readable | Promise<Buffer | Readable> {
    const cached = this.#cached.get(user);
    if (cached?.query === query && isSameHead(cached.head, head)) return cached.text;
    const chunks = jsonOf(page);
    const next = () => chunks.next();
    const first = page.size > FEW ? this.scheduler.do(user, next) : next();
    const bodyFrom = (chunk: Chunk) => {
      if (!chunk.done) return this.#stream(user, chunk, next);
      const text = exactBuffer(chunk.value);
      this.#keep(user, { query, head, text });
      return text;
    };
    return first instanceof Promise ? first.then(bodyFrom) : bodyFrom(first);
  }

  #stream(user: User, first: Chunk, next: () => Chunk): Readable {
    if (this.#long.of(user) >= (this.sent < MAX_LONG ? MAX_LONG_EACH : 1))
      throw new HttpProblem(PROBLEMS.unavailable, { reason: 'responses' });
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
      if (this.#bytes <= this.maxCached || oldest === user) return;
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

/** The last chunk is the one that is done. */
type Chunk = IteratorResult<string, string>;

/** A JSON array of plants, in chunks: it never exists as a whole. */
function* jsonOf(plants: Iterable<Plant>): Generator<string, string> {
  let text = '[';
  let separator = '';
  for (const plant of plants) {
    if (text.length >= CHUNK) {
      yield text;
      text = '';
    }
    text += separator + JSON.stringify(plant);
    separator = ',';
  }
  return `${text}]`;
}

/** In memory of its own: `Buffer.from` takes a slice of a pool of 8 KiB, which a cached text would keep as a whole. */
function exactBuffer(text: string): Buffer {
  const buffer = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  buffer.write(text);
  return buffer;
}

/** RFC 9110, 8.8.3, ASCII only. Our commit ids match; those of another store need not. */
const TAG_CHARACTERS = /^[!#-~]{1,128}$/;

/** A strong tag: the commit identifies one state of this user's list, and the URL one page of it. */
export function entityTag({ version, commit }: Head): string {
  if (version === 0 || TAG_CHARACTERS.test(commit)) return `"${version}-${commit}"`;
  return `"${version}-${createHash('sha256').update(commit, 'utf16le').digest('base64url')}"`;
}
