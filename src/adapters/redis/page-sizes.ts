/** So much should a page hold at most, in bytes: it is parsed in a few milliseconds. */
const PAGE_BYTES = 512 * 1024;
/** For a stream of which nothing is known yet. */
const FIRST_EVENTS = 32;
/** How many streams of large events are remembered. */
const REMEMBERED = 10_000;

/**
 * How many events of a stream to request at once. `XRANGE` is bounded by a number of entries and not by bytes, so the
 * number follows from the size of the stream's last page. Streams of small events, which most are, take no memory here.
 */
export class PageSizes {
  readonly #limits = new Map<string, number>();

  /** @param max the most events of a page, 1 or more. */
  constructor(private readonly max = 128) {}

  /** For the page after `version` of `stream`. */
  next(stream: string, version: number): number {
    return this.#limits.get(stream) ?? (version === 0 ? Math.min(this.max, FIRST_EVENTS) : this.max);
  }

  /** Notes a page of so many events that took so many bytes. */
  arrived(stream: string, events: number, bytes: number): void {
    const limit = this.#limits.get(stream);
    if (bytes > PAGE_BYTES) this.#set(stream, Math.floor((events * PAGE_BYTES) / bytes));
    else if (limit !== undefined && bytes < PAGE_BYTES / 2 && events >= limit) this.#set(stream, 2 * limit);
  }

  /** Notes that a page of so many events did not arrive in time. */
  late(stream: string, events: number): void {
    this.#set(stream, Math.floor(events / 2));
  }

  #set(stream: string, limit: number): void {
    this.#limits.delete(stream);
    if (limit >= this.max) return;
    if (this.#limits.size >= REMEMBERED) this.#limits.delete(this.#limits.keys().next().value!);
    this.#limits.set(stream, Math.max(1, limit));
  }
}
