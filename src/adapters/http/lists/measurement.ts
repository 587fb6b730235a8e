import type { SegmentRange } from '../../../domain';
import { type ListPlace, START, placeAfter } from './list-text';
import { KNOWN_COST, PIECE_LENGTH, type SegmentTexts } from './segment-texts';

/** Measures the text of a list that is not empty, in bytes, one part at a time. */
export class Measurement {
  /** The brackets. */
  #bytes = 2;
  #place: ListPlace | undefined = START;
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
      const known = isWhole(range) ? this.segments.measuresOf(range.segment).length : undefined;
      if (known !== undefined) {
        this.#bytes += known;
        this.#place = placeAfter(this.ranges, index, range.to);
        return KNOWN_COST;
      }
    }
    const measured = this.segments.measure(range, plant ?? range.from);
    // A plant that is not the first one of its range follows a comma.
    this.#ofRange += measured.bytes + (plant === undefined ? 0 : 1);
    this.#place = placeAfter(this.ranges, index, measured.plant);
    if (measured.plant === range.to) {
      if (isWhole(range)) this.segments.measuresOf(range.segment).length = this.#ofRange;
      this.#bytes += this.#ofRange;
      this.#ofRange = 0;
    }
    return measured.cost;
  }
}

function isWhole({ segment, from, to }: SegmentRange): boolean {
  return to - from === segment.plants.length;
}
