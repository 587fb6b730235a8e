import { createHash } from 'node:crypto';
import type { Head, User } from '../../application';
import type { Page } from '../../domain';
import { type Answer, json } from './answer';
import { matches } from './if-none-match';
import { type ListQuery, cursorAfter } from './list-query';
import { ListTexts } from './list-texts';
import type { Headers } from './problems';

/** How much text is kept, in bytes, each answer counted with what it costs beside its text. */
const MAX_KEPT = 64 * 2 ** 20;
const OVERHEAD = 1024;

/** A page of a list, as it was at `head`. */
export interface Listing extends Pick<Page, 'stretches' | 'next'> {
  readonly head: Head;
}

interface Kept {
  readonly head: Head;
  readonly etag: string;
  /** A promise while a long one is being made: whoever asks meanwhile gets the same. */
  readonly answer: Answer | Promise<Answer>;
  readonly size: number;
}

/**
 * The answers to lists. The latest to each question is kept, and given again
 * for as long as the list is the same; beyond a bound those made first are
 * forgotten.
 */
export class ListAnswers {
  readonly #texts = new ListTexts();
  readonly #kept = new Map<string, Kept>();
  #size = 0;

  constructor(private readonly maxKept = MAX_KEPT) {}

  answer(
    user: User,
    query: ListQuery,
    listing: Listing,
    ifNoneMatch: string | undefined,
  ): Answer | Promise<Answer> {
    const question = `${query.limit} ${query.after} ${user}`;
    const kept = this.#kept.get(question);
    const holds = kept !== undefined && isSame(kept.head, listing.head);
    const etag = holds ? kept.etag : entityTag(listing.head);
    if (ifNoneMatch !== undefined && matches(ifNoneMatch, etag)) {
      return { status: 304, headers: fields(query, listing, etag) };
    }
    return holds ? kept.answer : this.#make(question, query, listing, etag);
  }

  #make(question: string, query: ListQuery, listing: Listing, etag: string): Answer | Promise<Answer> {
    const { head } = listing;
    const answer = (body: Buffer) => json(200, body, fields(query, listing, etag));
    const text = this.#texts.of(listing);
    if (Buffer.isBuffer(text))
      return this.#keep(question, { head, etag, answer: answer(text), size: text.length });
    const made = text.then((bytes) =>
      this.#keep(question, { head, etag, answer: answer(bytes), size: bytes.length }),
    );
    return this.#keep(question, { head, etag, answer: made, size: 0 });
  }

  #keep<T extends Answer | Promise<Answer>>(question: string, kept: Kept & { answer: T }): T {
    this.#forget(question);
    this.#kept.set(question, kept);
    this.#size += kept.size + OVERHEAD;
    for (const first of this.#kept.keys()) {
      // The newest is kept, however long it is.
      if (this.#size <= this.maxKept || first === question) break;
      this.#forget(first);
    }
    return kept.answer;
  }

  #forget(question: string): void {
    const kept = this.#kept.get(question);
    if (kept === undefined) return;
    this.#kept.delete(question);
    this.#size -= kept.size + OVERHEAD;
  }
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

function fields({ limit }: ListQuery, { next }: Listing, etag: string): Headers {
  // With limit=0 a walk along the links would never end.
  const link =
    next === undefined || limit === 0 ? undefined : `</plants?limit=${limit}&cursor=${cursorAfter(next)}>`;
  return {
    'Cache-Control': 'private, no-cache',
    ETag: etag,
    Vary: 'Authorization',
    ...(link === undefined ? {} : { Link: `${link}; rel="next"` }),
  };
}
