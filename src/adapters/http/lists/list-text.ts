/** The JSON text of lists: as a whole if they are short, otherwise piece by piece. */
import {
  MEMBERS,
  MEMBER_NAMES,
  type Plant,
  type SegmentRange,
  type SegmentView,
  charactersOf,
} from '../../../domain';

/** Length of a piece in characters. */
export const PIECE_LENGTH = 64 * 1024;
/** In characters, without escapes: texts of longer segments are rendered plant by plant, and not cached. */
const SEGMENT_LENGTH = PIECE_LENGTH / 4;
/** Of the text of a plant with a comma, without its members' texts and without optional members. */
const PLANT_LENGTH =
  JSON.stringify(
    Object.fromEntries(MEMBER_NAMES.flatMap((name) => (MEMBERS[name].optional ? [] : [[name, '']]))),
  ).length + 1;

/** Whether the list is rendered as a whole: without escapes, its text is at most as long as a piece. */
export function isShort(ranges: readonly SegmentRange[]): boolean {
  let length = 0;
  for (const { segment, from, to } of ranges) {
    length += lengthOf(segment.plants, from, to);
    if (length > PIECE_LENGTH) return false;
  }
  return true;
}

/** The whole text in UTF-8. */
export function render(ranges: readonly SegmentRange[], segments: SegmentTexts): Buffer {
  return exactBuffer(`[${ranges.map((range) => segments.whole(range)).join()}]`);
}

/** A place in the text of a list: before a plant of a range. */
export interface Place {
  readonly range: number;
  /** Its index in the segment; absent at the first plant of the range. */
  readonly plant?: number;
}

/** A piece of a text in UTF-8, and the place after it; no place at the end. */
export interface Piece {
  readonly text: Buffer;
  readonly next: Place | undefined;
}

export const START: Place = { range: 0 };

/**
 * Renders the piece at `place`. All pieces from {@link START} on are the text of a list that is not empty.
 * @param length in characters; the piece ends with the plant or the segment that exceeds it.
 */
export function renderPiece(
  ranges: readonly SegmentRange[],
  place: Place,
  segments: SegmentTexts,
  length = PIECE_LENGTH,
): Piece {
  let separator = place === START ? '[' : ',';
  let piece = '';
  let next: Place | undefined = place;
  while (next !== undefined && piece.length <= length) {
    const range: SegmentRange = ranges[next.range]!;
    const { text, plant } = segments.some(range, next.plant ?? range.from, length - piece.length);
    piece += separator + text;
    separator = ',';
    next = after(ranges, next.range, plant);
  }
  return { text: exactBuffer(next === undefined ? `${piece}]` : piece), next };
}

/** The place before `plant` of this range, or at the next range if it has no such plant. */
function after(ranges: readonly SegmentRange[], range: number, plant: number): Place | undefined {
  if (plant < ranges[range]!.to) return { range, plant };
  return range + 1 < ranges.length ? { range: range + 1 } : undefined;
}

/** The cost of a text whose length is known, in characters that could be rendered meanwhile. */
const KNOWN_COST = 64;

/** Measures the text of a list that is not empty, in bytes, one part at a time. */
export class Measurement {
  /** The brackets. */
  #bytes = 2;
  #place: Place | undefined = START;
  /** Bytes of the measured plants of the range at this place. */
  #ofRange = 0;

  constructor(
    private readonly ranges: readonly SegmentRange[],
    private readonly segments: SegmentTexts,
    /** Called for each range before it is measured. */
    private readonly begins: (range: SegmentRange) => void,
  ) {}

  /**
   * Measures as much as costs about one piece. Returns the length of the text in bytes once it is known.
   * @param isNeeded becomes false if a call of `begins` has made the measurement useless.
   */
  advance(isNeeded: () => boolean): number | undefined {
    for (let left = PIECE_LENGTH; left > 0 && this.#place !== undefined && isNeeded();) left -= this.#next();
    // Each range but the first one follows a comma.
    return this.#place === undefined ? this.#bytes + this.ranges.length - 1 : undefined;
  }

  /** @returns the cost, in characters. */
  #next(): number {
    const { range: index, plant } = this.#place!;
    const range = this.ranges[index]!;
    if (plant === undefined) {
      this.begins(range);
      const known = isWhole(range) ? this.segments.measured(range.segment)?.length : undefined;
      if (known !== undefined) {
        this.#bytes += known;
        this.#place = after(this.ranges, index, range.to);
        return KNOWN_COST;
      }
    }
    const measured = this.segments.measure(range, plant ?? range.from);
    // A plant that is not the first one of its range follows a comma.
    this.#ofRange += measured.bytes + (plant === undefined ? 0 : 1);
    this.#place = after(this.ranges, index, measured.plant);
    if (measured.plant === range.to) {
      if (isWhole(range)) this.segments.setLength(range.segment, this.#ofRange);
      this.#bytes += this.#ofRange;
      this.#ofRange = 0;
    }
    return measured.cost;
  }
}

function isWhole({ segment, from, to }: SegmentRange): boolean {
  return to - from === segment.plants.length;
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
function lengthOf(plants: readonly Plant[], from: number, to: number): number {
  let sum = 0;
  for (let plant = from; plant < to; plant++) sum += PLANT_LENGTH + charactersOf(plants[plant]!);
  return sum;
}

/** Estimated memory of a plant in a segment, without its texts, in bytes. */
const PLANT_BYTES = 120;

/** In bytes. */
interface SegmentMeasures {
  /** Estimated memory. */
  readonly bytes: number;
  /** Of the text, once it was measured. */
  length: number | undefined;
}

function bytesOf({ plants }: SegmentView): number {
  return PLANT_BYTES * plants.length + 2 * lengthOf(plants, 0, plants.length);
}

/** The JSON of the plants without the brackets. */
function members(plants: readonly Plant[]): string {
  return JSON.stringify(plants).slice(1, -1);
}

/** In bytes, at two bytes per character. */
const MAX_SEGMENT_BYTES = 32 * 2 ** 20;

/**
 * Renders segments. It caches the texts of whole ones, because a write changes only one or two segments of a list, and
 * their lengths for as long as they live. The cache has two generations, each with half of the bound. When the young one
 * is full, the old one is dropped.
 */
export class SegmentTexts {
  readonly #measures = new WeakMap<SegmentView, SegmentMeasures>();
  /** The lengths of plants in long segments. */
  readonly #lengths = new WeakMap<Plant, number>();
  #young = new WeakMap<SegmentView, string>();
  #old = new WeakMap<SegmentView, string>();
  #youngBytes = 0;
  #oldBytes = 0;

  constructor(private readonly maxBytes = MAX_SEGMENT_BYTES) {}

  /** Upper bound of the memory of cached texts in bytes: it includes those of segments that no list has any more. */
  get bytes(): number {
    return this.#youngBytes + this.#oldBytes;
  }

  /** The text of all plants of the range. */
  whole(range: SegmentRange): string {
    return this.some(range, range.from, Infinity).text;
  }

  /**
   * The text of plants of the range from `plant` on: of all of them if that is short, otherwise up to the first one that
   * exceeds `length`. Also the index after the last one.
   */
  some({ segment, from, to }: SegmentRange, plant: number, length: number) {
    const { plants } = segment;
    const cacheable = plant === 0 && from === 0 && to === plants.length;
    const cached = cacheable ? this.get(segment) : undefined;
    if (cached !== undefined) return { text: cached, plant: to };
    if (lengthOf(plants, plant, to) <= SEGMENT_LENGTH) {
      const text = members(cacheable ? plants : plants.slice(plant, to));
      if (cacheable) this.set(segment, text);
      return { text, plant: to };
    }
    let next = plant + 1;
    let text = members([plants[plant]!]);
    while (text.length <= length && next < to) text += `,${members([plants[next++]!])}`;
    return { text, plant: next };
  }

  /**
   * The bytes of the text of plants of the range from `plant` on: of all of them if that is short, otherwise of one. Also
   * the index after the last one, and the cost in characters.
   */
  measure(range: SegmentRange, plant: number) {
    const { segment, to } = range;
    if (lengthOf(segment.plants, plant, to) <= SEGMENT_LENGTH) {
      const { text } = this.some(range, plant, 0);
      return { bytes: Buffer.byteLength(text), plant: to, cost: text.length };
    }
    const long = segment.plants[plant]!;
    const known = this.#lengths.get(long);
    if (known !== undefined) return { bytes: known, plant: plant + 1, cost: KNOWN_COST };
    const text = members([long]);
    const bytes = Buffer.byteLength(text);
    this.#lengths.set(long, bytes);
    return { bytes, plant: plant + 1, cost: text.length };
  }

  /** What is known of a segment. */
  measured(segment: SegmentView): SegmentMeasures | undefined {
    return this.#measures.get(segment);
  }

  /** Estimated memory of a segment, in bytes; rather too high than too low. */
  bytesOf(segment: SegmentView): number {
    return this.#measuresOf(segment).bytes;
  }

  /** @param length of the text of the whole segment, in bytes. */
  setLength(segment: SegmentView, length: number): void {
    this.#measuresOf(segment).length = length;
  }

  #measuresOf(segment: SegmentView): SegmentMeasures {
    let measures = this.#measures.get(segment);
    if (measures === undefined) {
      measures = { bytes: bytesOf(segment), length: undefined };
      this.#measures.set(segment, measures);
    }
    return measures;
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
