import type { ServerResponse } from 'node:http';

/** In bytes: shorter answers fit into what the system takes off a response at once. */
const LONG = 64 * 1024;
/** How many bytes may be on their way at a time. */
const MAX_BYTES = 128 * 2 ** 20;

/**
 * Long answers on their way to their readers. A reader who is slow, or has
 * stopped, keeps his answer in memory for as long as his connection lives.
 * Readers of the same bytes share them; where too many are on their way at
 * once, those who read the oldest are cut off.
 */
export class LongAnswers {
  /** Who reads what. The oldest first. */
  readonly #readers = new Map<Buffer, Set<ServerResponse>>();
  #bytes = 0;

  /** From now on until `response` is closed `bytes` are counted, where they are many. */
  lend(bytes: Buffer, response: ServerResponse): void {
    // Of a client that has gone away they would never come back.
    if (bytes.length < LONG || response.destroyed) return;
    let readers = this.#readers.get(bytes);
    if (readers === undefined) {
      readers = new Set();
      this.#readers.set(bytes, readers);
      this.#bytes += bytes.length;
    }
    readers.add(response);
    response.once('close', () => this.#giveBack(bytes, response));
    this.#makeRoom(bytes);
  }

  #giveBack(bytes: Buffer, response: ServerResponse): void {
    const readers = this.#readers.get(bytes);
    readers?.delete(response);
    if (readers?.size === 0) this.#forget(bytes);
  }

  /** The newest are let through, however long they are. */
  #makeRoom(newest: Buffer): void {
    for (const [bytes, readers] of this.#readers) {
      if (this.#bytes <= MAX_BYTES) return;
      if (bytes === newest) continue;
      this.#forget(bytes);
      for (const reader of readers) reader.destroy();
    }
  }

  #forget(bytes: Buffer): void {
    if (this.#readers.delete(bytes)) this.#bytes -= bytes.length;
  }
}
