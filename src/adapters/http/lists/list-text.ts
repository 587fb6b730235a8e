/** The JSON text of lists: as a whole if they are short, otherwise piece by piece. */
import type { SegmentRange } from '../../../domain';
import { PIECE_LENGTH, type SegmentTexts, lengthOf } from './segment-texts';

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
export interface ListPlace {
  readonly range: number;
  /** Its index in the segment; absent at the first plant of the range. */
  readonly plant?: number;
}

/** A piece of a text in UTF-8, and the place after it; no place at the end. */
export interface Piece {
  readonly text: Buffer;
  readonly next: ListPlace | undefined;
}

export const START: ListPlace = { range: 0 };

/**
 * Renders the piece at `place`. All pieces from {@link START} on are the text of a list that is not empty.
 * @param length in characters; the piece ends with the plant or the segment that exceeds it.
 */
export function renderPiece(
  ranges: readonly SegmentRange[],
  place: ListPlace,
  segments: SegmentTexts,
  length = PIECE_LENGTH,
): Piece {
  let separator = place === START ? '[' : ',';
  let piece = '';
  let next: ListPlace | undefined = place;
  while (next !== undefined && piece.length <= length) {
    const range: SegmentRange = ranges[next.range]!;
    const { text, plant } = segments.some(range, next.plant ?? range.from, length - piece.length);
    piece += separator + text;
    separator = ',';
    next = placeAfter(ranges, next.range, plant);
  }
  return { text: exactBuffer(next === undefined ? `${piece}]` : piece), next };
}

/** The place before `plant` of this range, or at the next range if it has no such plant. */
export function placeAfter(
  ranges: readonly SegmentRange[],
  range: number,
  plant: number,
): ListPlace | undefined {
  if (plant < ranges[range]!.to) return { range, plant };
  return range + 1 < ranges.length ? { range: range + 1 } : undefined;
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
