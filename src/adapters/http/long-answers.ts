import type { ServerResponse } from 'node:http';

/** Shorter texts are not worth the bookkeeping. Characters. */
const LONG = 64 * 1024;
/** How many bytes of long texts may be on their way at a time. */
const MAX_BYTES = 128 * 2 ** 20;

interface LongText {
  readonly state: string;
  readonly bytes: Buffer;
  readonly readers: Set<ServerResponse>;
}

/**
 * Long texts on their way to their readers. A reader who is slow, or has
 * stopped, keeps his text in memory for as long as his connection lives; so
 * all readers of one state share one copy, and where too many states are on
 * their way at once, those who read the oldest are cut off.
 */
export class LongAnswers {
  /** The oldest first. */
  readonly #onTheirWay = new Map<string, LongText>();
  #bytes = 0;

  /**
   * What to answer with, for as long as `response` is open.
   * @param state names the text: equal only where the texts are.
   */
  text(response: ServerResponse, state: string, render: () => string): string | Buffer {
    // The client has gone away, and would never give the text back.
    if (response.destroyed) return '';
    let text = this.#onTheirWay.get(state);
    if (text === undefined) {
      const rendered = render();
      if (rendered.length < LONG) return rendered;
      text = { state, bytes: Buffer.from(rendered), readers: new Set() };
      this.#onTheirWay.set(state, text);
      this.#bytes += text.bytes.length;
      this.#makeRoom();
    }
    this.#lend(text, response);
    return text.bytes;
  }

  #lend(text: LongText, reader: ServerResponse): void {
    text.readers.add(reader);
    reader.once('close', () => {
      text.readers.delete(reader);
      if (text.readers.size === 0) this.#forget(text);
    });
  }

  #makeRoom(): void {
    for (const text of this.#onTheirWay.values()) {
      // The newest is let through, however long it is.
      if (this.#bytes <= MAX_BYTES || this.#onTheirWay.size === 1) return;
      this.#forget(text);
      for (const reader of text.readers) reader.destroy();
    }
  }

  #forget(text: LongText): void {
    if (this.#onTheirWay.get(text.state) !== text) return;
    this.#onTheirWay.delete(text.state);
    this.#bytes -= text.bytes.length;
  }
}
