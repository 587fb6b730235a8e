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

/** The cost of a text whose length is known, in characters that could be rendered meanwhile. */
export const KNOWN_COST = 64;

/** Lower bound of the length of their text. */
export function lengthOf(plants: readonly Plant[], from: number, to: number): number {
  let sum = 0;
  for (let plant = from; plant < to; plant++) sum += PLANT_LENGTH + charactersOf(plants[plant]!);
  return sum;
}

/** Estimated memory of a plant in a segment, without its texts, in bytes. */
const PLANT_BYTES = 120;

/** In bytes. */
interface SegmentMeasures {
  /** Estimated memory, rather too high than too low. */
  readonly bytes: number;
  /** Of the text of the whole segment, once it was measured. */
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
   * The text of the plants of the range from `plant` on, and the index after the last plant. A long text ends with the
   * first plant that exceeds `length`.
   */
  some({ segment, to }: SegmentRange, plant: number, length: number) {
    const { plants } = segment;
    const cacheable = plant === 0 && to === plants.length;
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
   * Measures the text of the plants of the range from `plant` on, in bytes; if it is long, that of the first one. Also
   * returns the index after the last plant that was measured, and the cost in characters.
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

  /** The measures of a segment, whose length the caller may set. */
  measuresOf(segment: SegmentView): SegmentMeasures {
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
