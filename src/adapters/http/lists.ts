/** The texts of lists, rendered on request and cached until the list changes. */
import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { type PlantView, type User, pageOf } from '../../application';
import { type Head, StoreUnavailable, isSameHead } from '../../event-sourcing';
import type { SegmentRange } from '../../domain';
import { whenClosed } from './connection';
import { type PageQuery, canonical } from './list-query';
import { ListRenderer, type Rendering } from './list-renderer';
import { ListText, PIECE_LENGTH, SegmentTexts } from './list-text';
import { malformedHttp } from './problems';

/** Bytes of cached pages, including their overhead. The latest page is cached at any length. */
const MAX_KEPT = 64 * 2 ** 20;
const PAGE_BYTES = 1024;
const RANGE_BYTES = 64;
/** Different queries of one user with possibly long responses, in progress at a time. */
const MAX_LONG_QUERIES = 32;
/** A list of more plants is longer than one piece, because a plant takes at least 13 characters. */
const LONG_LIMIT = Math.floor(PIECE_LENGTH / 13);
/** A list of this many ranges is longer than one piece, because two adjacent segments have more than 64 plants. */
const LONG_RANGES = Math.ceil(LONG_LIMIT / 32) + 1;

/**
 * Caches pages of lists by user and canonical query, each at the head of its latest request. Beyond the bound it drops
 * the oldest ones. It renders a short text at once, and a long one with the {@link ListRenderer}.
 */
export class Lists {
  readonly #segments = new SegmentTexts();
  readonly #renderer = new ListRenderer();
  /** The oldest first. */
  readonly #pages = new Map<string, ListPage>();
  /** For each user, the queries with possibly long texts, and the number of requests in progress for each. */
  readonly #long = new Map<User, Map<string, number>>();
  #size = 0;

  constructor(private readonly maxKept = MAX_KEPT) {}

  /** Bytes of pages, texts of segments, and unfinished texts. */
  get bytes(): number {
    return this.#size + this.#segments.bytes + this.#renderer.bytes;
  }

  /** The number of unfinished long texts. */
  get waiting(): number {
    return this.#renderer.waiting;
  }

  /**
   * Admits a request before its list is read, because a long list takes memory from then on. Throws
   * {@link StoreUnavailable} if the user requests too many different ones.
   * @returns a function to call when the request has its response; `undefined` if the limit bounds the ranges of the page.
   */
  admit(user: User, query: PageQuery): (() => void) | undefined {
    if (query.limit <= LONG_LIMIT) return undefined;
    const key = canonical(query);
    const queries = this.#long.get(user) ?? new Map<string, number>();
    const requests = queries.get(key) ?? 0;
    if (requests === 0 && queries.size >= MAX_LONG_QUERIES) {
      throw new StoreUnavailable('one user requests too many different long lists', { reason: 'responses' });
    }
    queries.set(key, requests + 1);
    this.#long.set(user, queries);
    return () => {
      const left = queries.get(key)! - 1;
      if (left > 0) queries.set(key, left);
      else queries.delete(key);
      if (queries.size === 0) this.#long.delete(user);
    };
  }

  /**
   * A view of a user's list that returns the page of `query`.
   * @param isKnown whether the client has the content with this entity tag. Then the page has no text.
   */
  page(user: User, query: PageQuery, isKnown: (etag: string) => boolean): PlantView<ListPage> {
    return (list, head) => {
      // A limit beyond the end is ignored, so that all such queries share one text.
      const cut = query.limit < list.size ? query : withoutLimit(query);
      const key = `${canonical(cut)} ${user}`;
      const cached = this.#pages.get(key);
      if (cached !== undefined && isSameHead(cached.head, head)) return cached;
      const { ranges, next } = pageOf(list, cut);
      // With limit=0 the links would never end.
      const link = next === undefined || cut.limit === 0 ? undefined : canonical({ ...cut, after: next });
      const page = new ListPage(key, user, head, link, ranges);
      // Until its text is rendered, a page holds the plants of its list in memory.
      if (!isKnown(page.etag)) this.#keep(page);
      return page;
    };
  }

  /**
   * The text of a page from {@link page} that the client does not know. Rejects with {@link StoreUnavailable} if too many texts are requested.
   * @param abandonment called for a long text: its signal aborts when the client disconnects or the request times out.
   */
  async text(page: ListPage, abandonment: () => AbortSignal): Promise<Buffer> {
    if (page.text !== undefined) return page.text;
    if (page.rendering === undefined) {
      const text = new ListText(page.ranges, this.#segments);
      const whole = text.size < LONG_RANGES ? text.advance() : undefined;
      if (whole !== undefined) return this.#finish(page, whole);
      try {
        page.rendering = this.#renderer.render(page.user, text, (rendered) => {
          page.rendering = undefined;
          if (rendered === undefined) this.#drop(page);
          else this.#finish(page, rendered);
        });
      } catch (error) {
        this.#drop(page);
        throw error;
      }
    }
    return page.rendering.read(abandonment());
  }

  #finish(page: ListPage, text: Buffer): Buffer {
    const kept = this.#drop(page);
    page.finish(text);
    if (kept) this.#keep(page);
    return text;
  }

  #keep(page: ListPage): void {
    const before = this.#pages.get(page.key);
    if (before !== undefined) this.#forget(before);
    this.#pages.set(page.key, page);
    this.#size += page.bytes;
    for (const oldest of this.#pages.values()) {
      if (this.#size <= this.maxKept || oldest === page) break;
      // The renderer bounds unfinished ones. If they were dropped, their texts would be rendered twice.
      if (oldest.rendering === undefined) this.#forget(oldest);
    }
  }

  /** Drops a page; false if a page at a newer head has replaced it. */
  #drop(page: ListPage): boolean {
    const kept = this.#pages.get(page.key) === page;
    if (kept) this.#forget(page);
    return kept;
  }

  #forget(page: ListPage): void {
    this.#pages.delete(page.key);
    this.#size -= page.bytes;
  }
}

/** The page of a query at one head. */
export class ListPage {
  readonly etag: string;
  /** JSON in UTF-8; absent until it is rendered. */
  text: Buffer | undefined;
  /** Present while the text is being rendered. */
  rendering: Rendering | undefined;

  constructor(
    readonly key: string,
    readonly user: User,
    readonly head: Head,
    /** The canonical query of the next page; absent at the end. */
    readonly next: string | undefined,
    public ranges: readonly SegmentRange[],
  ) {
    this.etag = entityTag(head);
  }

  get bytes(): number {
    const texts = this.key.length + (this.next?.length ?? 0) + (this.text?.length ?? 0);
    return PAGE_BYTES + RANGE_BYTES * this.ranges.length + texts;
  }

  finish(text: Buffer): void {
    this.text = text;
    this.ranges = [];
  }
}

function withoutLimit(query: PageQuery): PageQuery {
  return query.limit === Infinity ? query : { ...query, limit: Infinity };
}

/** RFC 9110, 8.8.3, ASCII only. Our commit ids match; those of another store need not. */
const TAG_CHARACTERS = /^[!#-~]{1,128}$/;

/** A strong tag: the commit identifies one state of this user's list, and the URL one page of it. */
function entityTag({ version, commit }: Head): string {
  if (version === 0 || TAG_CHARACTERS.test(commit)) return `"${version}-${commit}"`;
  return `"${version}-${createHash('sha256').update(commit, 'utf16le').digest('base64url')}"`;
}

/**
 * Aborts when the work for `response` is useless: when it is closed, or at `deadline` (of `performance.now()`) with a
 * {@link StoreUnavailable}.
 */
export function abandonmentOf(response: ServerResponse, deadline: number): AbortSignal {
  const abandonment = new AbortController();
  const timer = setTimeout(() => {
    abandonment.abort(new StoreUnavailable('the answer was not ready in time', { reason: 'responses' }));
  }, deadline - performance.now());
  whenClosed(response, () => {
    clearTimeout(timer);
    // Reaches no client.
    abandonment.abort(malformedHttp('the connection was closed before its answer'));
  });
  return abandonment.signal;
}
