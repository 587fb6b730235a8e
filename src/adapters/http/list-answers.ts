import { createHash } from 'node:crypto';
import { type Head, StoreUnavailable, type User } from '../../application';
import type { Stretch } from '../../domain';
import { type Answer, json } from './answer';
import { matches } from './if-none-match';
import { type PageQuery, cursorAfter } from './list-query';
import { ListRenderer, type Rendering } from './list-renderer';
import { ListText, PIECE_LENGTH } from './list-text';
import type { Headers } from './problems';
import { SegmentTexts } from './segment-texts';

/** Bytes of kept answers, each counted with what it costs beside its text. The latest is kept however long it is. */
const MAX_KEPT = 64 * 2 ** 20;
const OVERHEAD = 1024;
/** Different questions of one user whose answers may be long, at a time. */
const MAX_LONG_QUESTIONS = 32;
/** A list of so many plants may be longer than one piece: a plant takes 13 characters at least. */
const LONG_LIMIT = Math.floor(PIECE_LENGTH / 13);
/** A list of so many stretches is: two neighbours hold more than 64 plants. */
const LONG_STRETCHES = Math.ceil(LONG_LIMIT / 32) + 1;

/** What a list is answered from. */
export interface ListState {
  readonly stretches: readonly Stretch[];
  readonly next: number | undefined;
  readonly head: Head;
}

interface Kept {
  readonly head: Head;
  readonly answer: Answer;
  readonly size: number;
}

/**
 * The answers to lists. The latest to each question is kept, and given again for as long as the list is the same.
 * Beyond the bound the oldest are dropped. A short answer is made at once, a long one by the {@link ListRenderer}.
 */
export class ListAnswers {
  readonly #segments = new SegmentTexts();
  readonly #renderer = new ListRenderer();
  readonly #kept = new Map<string, Kept>();
  /** The long texts under way, by question. */
  readonly #underWay = new Map<string, { readonly head: Head; readonly rendering: Rendering }>();
  /** Each user's questions that may be long, with how many requests ask each. */
  readonly #asked = new Map<User, Map<string, number>>();
  #size = 0;

  constructor(private readonly maxKept = MAX_KEPT) {}

  /** Bytes of text held: answers, segments, and texts under way. */
  get bytes(): number {
    return this.#size + this.#segments.bytes + this.#renderer.bytes;
  }

  /** How many long texts are unfinished. */
  get waiting(): number {
    return this.#renderer.waiting;
  }

  /**
   * Admits a request before its list is known: a long list takes memory from then on. Throws {@link StoreUnavailable}
   * where the user asks too many different questions.
   * @returns to be called when the request has its answer; `undefined` where the limit makes the answer short.
   */
  admit(user: User, { limit, after }: PageQuery): (() => void) | undefined {
    if (limit <= LONG_LIMIT) return undefined;
    const question = `${limit} ${after}`;
    const asked = this.#asked.get(user) ?? new Map<string, number>();
    const same = asked.get(question) ?? 0;
    if (same === 0 && asked.size >= MAX_LONG_QUESTIONS) {
      throw new StoreUnavailable('too many different long lists are wanted by one user');
    }
    asked.set(question, same + 1);
    this.#asked.set(user, asked);
    return () => {
      const left = asked.get(question)! - 1;
      if (left > 0) asked.set(question, left);
      else asked.delete(question);
      if (asked.size === 0) this.#asked.delete(user);
    };
  }

  /**
   * @param abandonment called where the answer takes its time: aborts when the client has gone, or the time is up.
   */
  answer(
    user: User,
    query: PageQuery,
    list: ListState,
    ifNoneMatch: string | undefined,
    abandonment: () => AbortSignal,
  ): Answer | Promise<Answer> {
    // Where the list ends before its limit, all limits ask the same.
    const question = `${list.next === undefined ? Infinity : query.limit} ${query.after} ${user}`;
    const kept = this.#kept.get(question);
    const holds = kept !== undefined && isSame(kept.head, list.head);
    const etag = holds ? kept.answer.headers['ETag']! : entityTag(list.head);
    if (ifNoneMatch !== undefined && matches(ifNoneMatch, etag)) {
      return { status: 304, headers: fields(query, list, etag) };
    }
    if (holds) return kept.answer;

    const headers = fields(query, list, etag);
    let rendering = this.#renderingOf(question, list.head);
    if (rendering === undefined) {
      const text = new ListText(list.stretches, this.#segments);
      const whole = text.size < LONG_STRETCHES ? text.advance() : undefined;
      if (whole) return this.#keep(question, list.head, json(200, whole, headers), whole.length);
      rendering = this.#render(user, question, list.head, text, headers);
    }
    return rendering.read(abandonment()).then((text) => {
      const made = this.#kept.get(question)?.answer;
      return made?.body === text ? made : json(200, text, headers);
    });
  }

  #renderingOf(question: string, head: Head): Rendering | undefined {
    const underWay = this.#underWay.get(question);
    return underWay && isSame(underWay.head, head) ? underWay.rendering : undefined;
  }

  #render(user: User, question: string, head: Head, text: ListText, headers: Headers): Rendering {
    const rendering = this.#renderer.render(user, text, (whole) => {
      if (this.#underWay.get(question)?.rendering === rendering) this.#underWay.delete(question);
      if (whole) this.#keep(question, head, json(200, whole, headers), whole.length);
    });
    this.#underWay.set(question, { head, rendering });
    return rendering;
  }

  #keep(question: string, head: Head, answer: Answer, length: number): Answer {
    this.#forget(question);
    const size = length + OVERHEAD;
    this.#kept.set(question, { head, answer, size });
    this.#size += size;
    for (const first of this.#kept.keys()) {
      if (this.#size <= this.maxKept || first === question) break;
      this.#forget(first);
    }
    return answer;
  }

  #forget(question: string): void {
    const kept = this.#kept.get(question);
    if (kept === undefined) return;
    this.#kept.delete(question);
    this.#size -= kept.size;
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

function fields({ limit }: PageQuery, { next }: ListState, etag: string): Headers {
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
