import type { SegmentView } from '../../domain';

/** In bytes, at two bytes per character. */
const MAX_BYTES = 32 * 2 ** 20;

/**
 * A cache of the texts of whole segments: a write leaves all but one or two of a list's segments as they are. It has
 * two generations of half of the bound each. When the young one is full, the old one is dropped.
 */
export class SegmentTexts {
  #young = new WeakMap<SegmentView, string>();
  #old = new WeakMap<SegmentView, string>();
  #youngBytes = 0;
  #oldBytes = 0;

  constructor(private readonly maxBytes = MAX_BYTES) {}

  /** Upper bound of what the texts take: those of segments that no list has any more are counted, too. */
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
