import type { SegmentRange } from '../../../domain';
import { type Piece, type ListPlace, START, renderPiece } from './list-text';
import { PIECE_LENGTH, type SegmentTexts } from './segment-texts';

/** Length in characters of a piece that many readers may share: fewer pieces cost less. */
const SHARED_LENGTH = 16 * PIECE_LENGTH;
/** Bytes of a text that is sent whole once it is cached. */
const MAX_WHOLE = 4 * 2 ** 20;

/** The pieces of the text of a long list, rendered when they are sent, and cached if they are to be kept. */
export class ListPieces {
  /** The first pieces, or all, if they are kept. */
  #kept: Piece[] | undefined;
  /** Of all pieces, if they are kept. */
  #bytes = 0;

  constructor(
    /** Empty once {@link settle} has found all pieces cached. */
    private ranges: readonly SegmentRange[],
    private readonly segments: SegmentTexts,
  ) {}

  /** Whether all pieces are cached. */
  get isComplete(): boolean {
    const last = this.#kept?.at(-1);
    return last !== undefined && last.next === undefined;
  }

  /** The whole text, if that is one cached piece. */
  get whole(): Buffer | undefined {
    const first = this.#kept?.[0];
    return first?.next === undefined ? first?.text : undefined;
  }

  /** The piece with this number, which begins at `place`. */
  at(number: number, place: ListPlace): Piece {
    const cached = this.#kept?.[number];
    if (cached !== undefined) return cached;
    const length = this.#kept === undefined ? PIECE_LENGTH : SHARED_LENGTH;
    const piece = renderPiece(this.ranges, place, this.segments, length);
    if (this.#kept?.length === number) this.#kept.push(piece);
    return piece;
  }

  /** Caches the pieces of a text of `bytes`: at once if it is one, otherwise each when it is sent. */
  keep(bytes: number): void {
    this.#kept = [];
    this.#bytes = bytes;
    if (bytes <= SHARED_LENGTH) this.at(0, START);
  }

  /** Drops the cached pieces. Has no effect without the ranges, because readers need the pieces. */
  drop(): void {
    if (this.ranges.length > 0) this.#kept = undefined;
  }

  /** If all pieces are cached, drops the ranges. Joins the pieces of a short text, which readers then get at once. */
  settle(): void {
    if (!this.isComplete) return;
    this.ranges = [];
    if (this.whole === undefined && this.#bytes <= MAX_WHOLE)
      this.#kept = [{ text: Buffer.concat(this.#kept!.map(({ text }) => text)), next: undefined }];
  }
}
