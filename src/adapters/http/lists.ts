/** The texts of lists: made when they are wanted, kept for as long as the list is the same. */
import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { type PlantView, type User, pageOf } from '../../application';
import { type Head, StoreUnavailable } from '../../event-sourcing';
import type { Stretch } from '../../domain';
import { type PageQuery, canonical } from './list-query';
import { ListRenderer, type Rendering } from './list-renderer';
import { ListText, PIECE_LENGTH, SegmentTexts } from './list-text';
import { malformedHttp } from './problems';
import { whenClosed } from './response';

/** Bytes of kept pages, each counted with what it costs beside its text. The latest is kept however long it is. */
const MAX_KEPT = 64 * 2 ** 20;
const PAGE_BYTES = 1024;
const STRETCH_BYTES = 64;
/** Different queries of one user whose answers may be long, at a time. */
const MAX_LONG_QUERIES = 32;
/** A list of so many plants may be longer than one piece: a plant takes 13 characters at least. */
const LONG_LIMIT = Math.floor(PIECE_LENGTH / 13);
/** A list of so many stretches is: two neighbours hold more than 64 plants. */
const LONG_STRETCHES = Math.ceil(LONG_LIMIT / 32) + 1;

/**
 * All pages of lists that are known, by user and canonical query, each at the latest head that it was requested at.
 * Beyond the bound the oldest are dropped. A short text is made at once, a long one by the {@link ListRenderer}.
 */
export class Lists {
  readonly #segments = new SegmentTexts();
  readonly #renderer = new ListRenderer();
  /** The oldest first. */
  readonly #pages = new Map<string, ListPage>();
  /** Each user's queries whose texts may be long, with how many requests wait for each. */
  readonly #long = new Map<User, Map<string, number>>();
  #size = 0;

  constructor(private readonly maxKept = MAX_KEPT) {}

  /** Bytes held: pages, texts of segments, and texts under way. */
  get bytes(): number {
    return this.#size + this.#segments.bytes + this.#renderer.bytes;
  }

  /** How many long texts are unfinished. */
  get waiting(): number {
    return this.#renderer.waiting;
  }

  /**
   * Admits a request before its list is known: a long list takes memory from then on. Throws {@link StoreUnavailable}
   * where the user requests too many different ones.
   * @returns to be called when the request has its answer; `undefined` where the limit makes the answer short.
   */
  admit(user: User, query: PageQuery): (() => void) | undefined {
    if (query.limit <= LONG_LIMIT) return undefined;
    const key = canonical(query);
    const queries = this.#long.get(user) ?? new Map<string, number>();
    const requests = queries.get(key) ?? 0;
    if (requests === 0 && queries.size >= MAX_LONG_QUERIES) {
      throw new StoreUnavailable('too many different long lists are wanted by one user');
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

  /** The view of a user's list that gives the page which `query` leads to. */
  page(user: User, query: PageQuery): PlantView<ListPage> {
    return (list, head) => {
      // A limit that cuts nothing is none: all of them share one text.
      const cut = query.limit < list.size ? query : withoutLimit(query);
      const key = `${canonical(cut)} ${user}`;
      const known = this.#pages.get(key);
      if (known !== undefined && isSame(known.head, head)) return known;
      const { stretches, next } = pageOf(list, cut);
      // With limit=0 a walk along the links would never end.
      const link = next === undefined || cut.limit === 0 ? undefined : canonical({ ...cut, after: next });
      const page = new ListPage(key, user, head, link, stretches);
      this.#keep(page);
      return page;
    };
  }

  /**
   * The text of a page that {@link page} gave. Rejects with {@link StoreUnavailable} where too much is wanted.
   * @param abandonment called where the text takes its time: aborts when the client has gone, or the time is up.
   */
  async text(page: ListPage, abandonment: () => AbortSignal): Promise<Buffer> {
    if (page.text !== undefined) return page.text;
    if (page.rendering === undefined) {
      const text = new ListText(page.stretches, this.#segments);
      const whole = text.size < LONG_STRETCHES ? text.advance() : undefined;
      if (whole !== undefined) return this.#finish(page, whole);
      page.rendering = this.#renderer.render(page.user, text, (rendered) => {
        page.rendering = undefined;
        if (rendered !== undefined) this.#finish(page, rendered);
      });
    }
    return page.rendering.read(abandonment());
  }

  #finish(page: ListPage, text: Buffer): Buffer {
    const kept = this.#pages.get(page.key) === page;
    if (kept) this.#forget(page);
    page.finish(text);
    // Not where a page of a newer head has taken its place.
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
      // The renderer bounds those under way; without them their texts would be made twice.
      if (oldest.rendering === undefined) this.#forget(oldest);
    }
  }

  #forget(page: ListPage): void {
    this.#pages.delete(page.key);
    this.#size -= page.bytes;
  }
}

/** What a query leads to at one head. */
export class ListPage {
  readonly etag: string;
  /** JSON, in UTF-8. Absent until it is made. */
  text: Buffer | undefined;
  /** Present while the text is being made. */
  rendering: Rendering | undefined;

  constructor(
    readonly key: string,
    readonly user: User,
    readonly head: Head,
    /** The canonical query of the next page; absent at the end. */
    readonly next: string | undefined,
    public stretches: readonly Stretch[],
  ) {
    this.etag = entityTag(head);
  }

  get bytes(): number {
    const texts = this.key.length + (this.next?.length ?? 0) + (this.text?.length ?? 0);
    return PAGE_BYTES + STRETCH_BYTES * this.stretches.length + texts;
  }

  finish(text: Buffer): void {
    this.text = text;
    this.stretches = [];
  }
}

function withoutLimit(query: PageQuery): PageQuery {
  return query.limit === Infinity ? query : { ...query, limit: Infinity };
}

function isSame(one: Head, other: Head): boolean {
  return one.version === other.version && one.commit === other.commit;
}

/** RFC 9110, 8.8.3, without what is not ASCII. Our own commit ids are of this kind; those of another store need not be. */
const TAG_CHARACTERS = /^[!#-~]{1,128}$/;

/** Strong: the commit names one state of this user's list, and the URL one page of it. */
function entityTag({ version, commit }: Head): string {
  if (version === 0 || TAG_CHARACTERS.test(commit)) return `"${version}-${commit}"`;
  return `"${version}-${createHash('sha256').update(commit, 'utf16le').digest('base64url')}"`;
}

/**
 * Aborts when the work for `response` has become useless: when that is closed, or at `deadline` (by
 * `performance.now()`), then with a {@link StoreUnavailable}.
 */
export function abandonmentOf(response: ServerResponse, deadline: number): AbortSignal {
  const abandonment = new AbortController();
  const timer = setTimeout(() => {
    abandonment.abort(new StoreUnavailable('the answer was not ready in time'));
  }, deadline - performance.now());
  whenClosed(response, () => {
    clearTimeout(timer);
    // Reaches no client.
    abandonment.abort(malformedHttp('the connection was closed before its answer'));
  });
  return abandonment.signal;
}
