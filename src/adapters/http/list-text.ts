/** Renders the texts of lists: a short one at once, a long one piece by piece. */
import { type User } from '../../application';
import type { Plant, SegmentView, SegmentRange } from '../../domain';
import { StoreUnavailable } from '../../event-sourcing';

/** In characters. A piece ends with the plant or the segment that exceeds it. */
export const PIECE_LENGTH = 64 * 1024;

/** The JSON text of one list, rendered piece by piece. */
export class ListText {
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  /** The next range, and its next plant. */
  #index = 0;
  #plant: number | undefined;

  constructor(
    private readonly ranges: readonly SegmentRange[],
    private readonly segments: SegmentTexts,
  ) {}

  /** Bytes of the pieces so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The number of ranges in the list. */
  get size(): number {
    return this.ranges.length;
  }

  /** Renders the next piece. Returns the complete text in UTF-8 after the last one, otherwise `undefined`. */
  advance(): Buffer | undefined {
    let piece = '';
    while (piece.length <= PIECE_LENGTH && this.#index < this.ranges.length) {
      piece += `${piece === '' && this.#bytes === 0 ? '[' : ','}${this.#next(PIECE_LENGTH - piece.length)}`;
    }
    const whole = this.#index === this.ranges.length;
    if (whole) piece += piece === '' && this.#bytes === 0 ? '[]' : ']';
    const chunk = Buffer.from(piece);
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (!whole) return undefined;
    return this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks);
  }

  /** The text of the next range; of a long range, only the plants up to the first one that exceeds `length`. */
  #next(length: number): string {
    const { segment, from, to } = this.ranges[this.#index]!;
    const whole = to - from === segment.plants.length;
    let text = whole && this.#plant === undefined ? this.segments.get(segment) : undefined;
    if (
      text === undefined &&
      this.#plant === undefined &&
      characters(segment.plants, from, to) <= PIECE_LENGTH
    ) {
      text = members(whole ? segment.plants : segment.plants.slice(from, to));
      if (whole) this.segments.set(segment, text);
    }
    if (text !== undefined) {
      this.#index++;
      return text;
    }
    let plant = this.#plant ?? from;
    for (text = members([segment.plants[plant++]!]); text.length <= length && plant < to; plant++) {
      text += `,${members([segment.plants[plant]!])}`;
    }
    this.#plant = plant < to ? plant : undefined;
    if (plant === to) this.#index++;
    return text;
  }
}

/** Lower bound of the length of their text. */
function characters(plants: readonly Plant[], from: number, to: number): number {
  let sum = 0;
  for (let plant = from; plant < to; plant++) {
    const { name, tag } = plants[plant]!;
    sum += name.length + (tag?.length ?? 0);
  }
  return sum;
}

/** The JSON of the plants without the brackets. */
function members(plants: readonly Plant[]): string {
  return JSON.stringify(plants).slice(1, -1);
}

/** In bytes, at two bytes per character. */
const MAX_SEGMENT_BYTES = 32 * 2 ** 20;

/**
 * Caches the texts of whole segments, because a write changes only one or two segments of a list. It has two
 * generations, each with half of the bound. When the young one is full, the old one is dropped.
 */
export class SegmentTexts {
  #young = new WeakMap<SegmentView, string>();
  #old = new WeakMap<SegmentView, string>();
  #youngBytes = 0;
  #oldBytes = 0;

  constructor(private readonly maxBytes = MAX_SEGMENT_BYTES) {}

  /** Upper bound of their memory in bytes: it includes texts of segments that no list has any more. */
  get bytes(): number {
    return this.#youngBytes + this.#oldBytes;
  }

  get(segment: SegmentView): string | undefined {
    const young = this.#young.get(segment);
    if (young !== undefined) return young;
    const old = this.#old.get(segment);
    if (old !== undefined) this.set(segment, old);
    return old;
  }

  set(segment: SegmentView, text: string): void {
    const bytes = 2 * text.length;
    if (this.#youngBytes + bytes > this.maxBytes / 2) {
      [this.#old, this.#oldBytes] = [this.#young, this.#youngBytes];
      [this.#young, this.#youngBytes] = [new WeakMap(), 0];
    }
    if (bytes > this.maxBytes / 2) return;
    this.#young.set(segment, text);
    this.#youngBytes += bytes;
  }
}

/** Unfinished texts of one user. Further ones are refused. */
const MAX_EACH = 32;
/** Bytes of unfinished texts. Beyond it, one text is finished before others continue, and further ones are refused. */
const MAX_UNFINISHED_BYTES = 64 * 2 ** 20;
/** Ranges of the lists whose texts are unfinished, some 64 bytes each. Further texts are refused. */
const MAX_RANGES = 2 ** 19;

interface Reader {
  readonly resolve: (text: Buffer) => void;
  readonly reject: (reason: unknown) => void;
}

/** A long text in progress, and its readers. */
export class Rendering {
  readonly #readers = new Set<Reader>();

  constructor(
    readonly user: User,
    readonly text: ListText,
    /** Called once: with the complete text, or without it after a cancellation or a fault. */
    readonly ended: (text?: Buffer) => void,
    /** Called when the last reader has left, with its reason. */
    private readonly abandoned: (reason: unknown) => void,
  ) {}

  get isRead(): boolean {
    return this.#readers.size > 0;
  }

  /** The complete text. Rejects with the reason of `signal` if that aborts first, or with a fault. */
  read(signal: AbortSignal): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const reader = { resolve, reject };
      this.#readers.add(reader);
      const leave = () => {
        if (!this.#readers.delete(reader)) return;
        reject(signal.reason as Error);
        if (!this.isRead) this.abandoned(signal.reason);
      };
      if (signal.aborted) leave();
      else signal.addEventListener('abort', leave, { once: true });
    });
  }

  settle(outcome: (reader: Reader) => void): void {
    for (const reader of this.#readers) outcome(reader);
    this.#readers.clear();
  }
}

/**
 * Renders long texts, one piece per turn of the event loop. Users take turns, piece by piece, with one text of each
 * user at a time. A text without readers is cancelled. The exception is a current text whose readers timed out: they
 * retry, and would never get a text that takes longer. It continues until its user requests another one.
 */
export class ListRenderer {
  /** The texts of each user, the current one first. The user of the next turn is first. No lane is empty. */
  readonly #lanes = new Map<User, Rendering[]>();
  #running = false;
  #bytes = 0;
  #ranges = 0;

  /** Bytes of unfinished texts. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The number of unfinished texts. */
  get waiting(): number {
    return [...this.#lanes.values()].reduce((sum, { length }) => sum + length, 0);
  }

  /**
   * Starts to render a text. Throws {@link StoreUnavailable} if there are too many.
   * @param ended see {@link Rendering}.
   */
  render(user: User, text: ListText, ended: (text?: Buffer) => void): Rendering {
    const [underWay] = this.#lanes.get(user) ?? [];
    if (underWay && !underWay.isRead) this.#remove(underWay);
    const others = this.#lanes.get(user)?.length ?? 0;
    const full = this.#bytes > MAX_UNFINISHED_BYTES || this.#ranges + text.size > MAX_RANGES;
    if (others >= MAX_EACH || (full && this.#lanes.size > 0)) {
      throw new StoreUnavailable('too many long lists are requested', { reason: 'responses' });
    }

    const rendering = new Rendering(user, text, ended, (reason) => {
      const late = reason instanceof StoreUnavailable;
      if (!late || this.#lanes.get(user)?.[0] !== rendering) this.#remove(rendering);
    });
    this.#bytes += text.bytes;
    this.#ranges += text.size;
    const lane = this.#lanes.get(user);
    if (lane) lane.push(rendering);
    else this.#lanes.set(user, [rendering]);
    this.#continue();
    return rendering;
  }

  #continue(): void {
    if (this.#running || this.#lanes.size === 0) return;
    this.#running = true;
    setImmediate(() => {
      this.#running = false;
      this.#advance();
      this.#continue();
    });
  }

  #advance(): void {
    const [lane] = this.#lanes.values();
    const rendering = lane?.[0];
    if (rendering === undefined) return;
    const { text, user } = rendering;
    const before = text.bytes;
    let whole: Buffer | undefined;
    try {
      whole = text.advance();
    } catch (error) {
      this.#remove(rendering);
      rendering.settle(({ reject }) => reject(error));
      return;
    }
    this.#bytes += text.bytes - before;
    if (whole === undefined) {
      if (this.#bytes <= MAX_UNFINISHED_BYTES) this.#moveToEnd(user);
    } else {
      this.#moveToEnd(user);
      this.#remove(rendering, whole);
      rendering.settle(({ resolve }) => resolve(whole));
    }
  }

  #moveToEnd(user: User): void {
    const lane = this.#lanes.get(user)!;
    this.#lanes.delete(user);
    this.#lanes.set(user, lane);
  }

  #remove(rendering: Rendering, whole?: Buffer): void {
    const { user, text, ended } = rendering;
    const lane = this.#lanes.get(user);
    const index = lane?.indexOf(rendering) ?? -1;
    if (index === -1) return;
    lane!.splice(index, 1);
    if (lane!.length === 0) this.#lanes.delete(user);
    this.#bytes -= text.bytes;
    this.#ranges -= text.size;
    ended(whole);
  }
}
