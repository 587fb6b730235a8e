import { setImmediate } from 'node:timers/promises';
import type { Page, SegmentView, Stretch } from '../../domain';

/** In characters. A longer text is made piece by piece, with everybody else having his turn in between. */
const LONG = 64 * 1024;

/**
 * Lists as JSON. The text of each whole segment is kept for as long as the
 * segment lives: a write leaves all but one or two as they are, so the next
 * list costs no more than those, and putting the texts together.
 */
export class ListTexts {
  readonly #texts = new WeakMap<SegmentView, string>();
  /** Settles when the long ones asked for so far are made. */
  #made: Promise<unknown> = Promise.resolve();

  /** In UTF-8, at once where it is short. */
  of({ stretches }: Pick<Page, 'stretches'>): Buffer | Promise<Buffer> {
    const text = this.#from(stretches, 0);
    const whole = text.index === stretches.length && text.piece.length <= LONG;
    if (whole) return Buffer.from(`[${text.piece}]`);
    // One after the other: all would be ready no sooner at once, and take memory for all of them until then.
    const made = this.#made.then(() => this.#long(text, stretches));
    this.#made = made.catch(() => {});
    return made;
  }

  async #long(beginning: Piece, stretches: readonly Stretch[]): Promise<Buffer> {
    const chunks = [Buffer.from(`[${beginning.piece}`)];
    for (let index = beginning.index; index < stretches.length;) {
      await setImmediate();
      const next = this.#from(stretches, index);
      chunks.push(Buffer.from(`,${next.piece}`));
      index = next.index;
    }
    chunks.push(Buffer.from(']'));
    return Buffer.concat(chunks);
  }

  /** The text from the stretch `index` on, up to where it has become long. */
  #from(stretches: readonly Stretch[], index: number): Piece {
    let piece = '';
    for (; index < stretches.length && piece.length <= LONG; index++) {
      if (piece !== '') piece += ',';
      piece += this.#text(stretches[index]!);
    }
    return { piece, index };
  }

  #text({ segment, from, to }: Stretch): string {
    if (to - from < segment.plants.length) return members(segment.plants.slice(from, to));
    const kept = this.#texts.get(segment) ?? members(segment.plants);
    this.#texts.set(segment, kept);
    return kept;
  }
}

interface Piece {
  readonly piece: string;
  /** Of the stretch behind it. */
  readonly index: number;
}

/** Without the brackets around them. */
function members(plants: readonly unknown[]): string {
  return JSON.stringify(plants).slice(1, -1);
}
