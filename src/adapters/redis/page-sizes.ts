/** Target size of a page, in bytes; parsing it takes a few milliseconds. */
const PAGE_BYTES = 512 * 1024;
/** Number of events of the first page of an unknown stream. */
const FIRST_EVENTS = 32;
/** Maximum number of streams of large events that are tracked. */
const MAX_STREAMS = 10_000;

/**
 * Determines how many events of a stream to read at once. `XRANGE` is limited by a number of entries, not by bytes, so
 * the number follows from the size of the stream's last page. Only streams of large events use memory here.
 */
export class PageSizes {
  readonly #limits = new Map<string, number>();

  /** @param max maximum number of events of a page, 1 or more. */
  constructor(private readonly max = 128) {}

  /** Number of events for the page after `version` of `stream`. */
  next(stream: string, version: number): number {
    return this.#limits.get(stream) ?? (version === 0 ? Math.min(this.max, FIRST_EVENTS) : this.max);
  }

  /** Records the size of a page. */
  recordPage(stream: string, events: number, bytes: number): void {
    const limit = this.#limits.get(stream);
    if (bytes > PAGE_BYTES) this.#set(stream, Math.floor((events * PAGE_BYTES) / bytes));
    else if (limit !== undefined && bytes < PAGE_BYTES / 2 && events >= limit) this.#set(stream, 2 * limit);
  }

  /** Records that a page of `events` events timed out. */
  recordTimeout(stream: string, events: number): void {
    this.#set(stream, Math.floor(events / 2));
  }

  #set(stream: string, limit: number): void {
    this.#limits.delete(stream);
    if (limit >= this.max) return;
    if (this.#limits.size >= MAX_STREAMS) this.#limits.delete(this.#limits.keys().next().value!);
    this.#limits.set(stream, Math.max(1, limit));
  }
}
