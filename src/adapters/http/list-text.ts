import type { Plant, SegmentView, SegmentRange } from '../../domain';

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
    const chunk = exactBuffer(piece);
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

/**
 * The text in UTF-8, in memory of its own. `Buffer.from` would take a slice of a pool of 8 KiB, which a cached text
 * keeps as a whole.
 */
function exactBuffer(text: string): Buffer {
  const buffer = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  buffer.write(text);
  return buffer;
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
