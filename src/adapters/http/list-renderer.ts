import { type User } from '../../application';
import { StoreUnavailable } from '../../event-sourcing';
import type { ListText } from './list-text';

/** Unfinished texts of one user. Further ones are refused. */
const MAX_EACH = 32;
/** Bytes of unfinished texts. Beyond it, one text is finished before others continue, and further ones are refused. */
const MAX_BYTES = 64 * 2 ** 20;
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
    const full = this.#bytes > MAX_BYTES || this.#ranges + text.size > MAX_RANGES;
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
      if (this.#bytes <= MAX_BYTES) this.#moveToEnd(user);
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
