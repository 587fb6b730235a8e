/** The bodies of lists: short texts are cached until the list changes, long ones are streams. */
import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Selection, User } from '../../../application';
import { type Head, isSameHead } from '../../../event-sourcing';
import { TransferMemory } from '../app/transfer-memory';
import { whenClosed } from '../server/served-response';
import { canonical } from './list-query';
import { isShort, render } from './list-text';
import type { LongListReader } from './long-list-reader';
import { type KeyedPage, type LongList, LongLists } from './long-lists';
import { SegmentTexts } from './segment-texts';

/** Bytes of cached short texts, including their overhead. */
const MAX_KEPT = 64 * 2 ** 20;
const PAGE_BYTES = 1024;
/** In bytes: slow readers of longer texts are counted. Shorter ones fit into the send buffer of the system. */
const COUNTED = 64 * 1024;

/** A page of a list at one head. */
export interface ListPage extends Pick<KeyedPage, 'etag' | 'next'> {
  /** JSON in UTF-8, if it is short. */
  readonly text?: Buffer;
  /** For a long page that the client does not know. */
  readonly reader?: LongListReader;
}

/** A short page, with its key. */
interface CachedPage extends KeyedPage {
  readonly text: Buffer;
}

/**
 * Caches short pages of lists by user and canonical query, each at the head of its latest request. Beyond the bound it
 * drops the oldest ones.
 */
export class Lists {
  readonly #segments = new SegmentTexts();
  readonly #memory: TransferMemory;
  readonly #long: LongLists;
  /** The oldest first. */
  readonly #pages = new Map<string, CachedPage>();
  #size = 0;

  /** @param maxSentBytes bounds the {@link TransferMemory} of responses. One may take more if it is the only one. */
  constructor(
    maxSentBytes: number,
    private readonly maxKept = MAX_KEPT,
  ) {
    this.#memory = new TransferMemory(maxSentBytes, 1);
    this.#long = new LongLists(this.#segments, this.#memory);
  }

  /** Bytes of cached texts, of pages and of segments. */
  get bytes(): number {
    return this.#size + this.#segments.bytes + this.#long.bytes;
  }

  /** The number of long responses that are being sent, and the bytes that they take. */
  get sent(): { readonly responses: number; readonly bytes: number } {
    const { transfers: responses, bytes } = this.#memory;
    return { responses, bytes };
  }

  /**
   * The page of a user's `selection` for `response`. Throws `Overloaded` if the user requests too many long lists.
   * @param isKnown whether the client has the content with this entity tag. Then the page has no content.
   */
  page(
    user: User,
    selection: Selection,
    response: ServerResponse,
    isKnown: (etag: string) => boolean,
  ): ListPage {
    const { query, head } = selection;
    const key = `${canonical(query)} ${user}`;
    const cached = this.#pages.get(key);
    if (cached !== undefined && isSameHead(cached.head, head)) return cached;
    const long = this.#long.find(key, head);
    if (long !== undefined) return longPage(long, response, isKnown);
    const etag = entityTag(head);
    const { ranges, next: after } = selection.page();
    // With limit=0 the links would never end.
    const next = after === undefined || query.limit === 0 ? undefined : canonical({ ...query, after });
    if (isKnown(etag)) return { etag, next };
    if (!isShort(ranges))
      return longPage(this.#long.add(user, { key, head, etag, next }, ranges), response, isKnown);
    const page = { key, head, etag, next, text: render(ranges, this.#segments) };
    this.#keep(page);
    return page;
  }

  /** Counts a short text in the memory of responses until `response` closes, if the system may not take it at once. */
  count(user: User, text: Buffer, response: ServerResponse): void {
    if (text.length < COUNTED) return;
    const transfer = { abandon: () => void response.destroy() };
    this.#memory.enter(user, transfer, text.length);
    whenClosed(response, () => this.#memory.leave(user, transfer));
  }

  #keep(page: CachedPage): void {
    const before = this.#pages.get(page.key);
    if (before !== undefined) this.#forget(before);
    this.#pages.set(page.key, page);
    this.#size += bytesOf(page);
    for (const oldest of this.#pages.values()) {
      if (this.#size <= this.maxKept || oldest === page) break;
      this.#forget(oldest);
    }
  }

  #forget(page: CachedPage): void {
    this.#pages.delete(page.key);
    this.#size -= bytesOf(page);
  }
}

function longPage(list: LongList, response: ServerResponse, isKnown: (etag: string) => boolean): ListPage {
  const { etag, next } = list.page;
  return isKnown(etag) ? { etag, next } : { etag, next, reader: list.open(response) };
}

function bytesOf({ key, next = '', text }: CachedPage): number {
  return PAGE_BYTES + key.length + next.length + text.length;
}

/** RFC 9110, 8.8.3, ASCII only. Our commit ids match; those of another store need not. */
const TAG_CHARACTERS = /^[!#-~]{1,128}$/;

/** A strong tag: the commit identifies one state of this user's list, and the URL one page of it. */
function entityTag({ version, commit }: Head): string {
  if (version === 0 || TAG_CHARACTERS.test(commit)) return `"${version}-${commit}"`;
  return `"${version}-${createHash('sha256').update(commit, 'utf16le').digest('base64url')}"`;
}
