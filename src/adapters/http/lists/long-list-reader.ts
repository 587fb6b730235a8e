import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { User } from '../../../application';
import { Overloaded, malformedHttp } from '../app/problems';
import type { Transfer, TransferMemory } from '../app/transfer-memory';
import type { RequestScheduler, Startable } from '../server/request-scheduler';
import { type ListPlace, START } from './list-text';
import type { ListPieces } from './list-pieces';

/** Pieces of a response in memory: one in the stream, and one on its way into the socket. */
const MAX_HELD = 2;

/** A long list, as seen by one of its readers. */
export interface SharedList {
  readonly user: User;
  /** Bytes of its text, once they are known. */
  readonly length: number | undefined;
  readonly pieces: ListPieces;
  /** Resolves when the length is known, or all readers have left. */
  measure(): Promise<void>;
  /** False, without effect, if the reader has left before. */
  leave(reader: LongListReader): boolean;
}

/** A response with a long list. */
export class LongListReader implements Transfer {
  #begun = false;
  /** The number and the place of the next piece of the stream. */
  #number = 0;
  #place: ListPlace | undefined = START;
  /** Pieces that it holds in memory, the oldest first. */
  readonly #held: Buffer[] = [];
  /** Why it has left. */
  #reason: (() => Error) | undefined;
  /** While it waits for the length. */
  #reject: ((reason: Error) => void) | undefined;

  constructor(
    private readonly list: SharedList,
    private readonly response: ServerResponse,
    private readonly turns: RequestScheduler,
    private readonly memory: TransferMemory,
  ) {}

  /**
   * Resolves with the length of the body in bytes. Rejects with {@link Overloaded} if it is not known after `timeoutMs`,
   * or the bound of memory is reached.
   */
  async length(timeoutMs: number): Promise<number> {
    const { list } = this;
    if (this.#reason) throw this.#reason();
    if (list.length === undefined) {
      let timer: NodeJS.Timeout;
      await new Promise<void>((resolve, reject) => {
        this.#reject = reject;
        timer = setTimeout(() => reject(new Overloaded('the list was not measured in time')), timeoutMs);
        list.measure().then(resolve, reject);
      }).finally(() => {
        clearTimeout(timer);
        this.#reject = undefined;
      });
    }
    return list.length!;
  }

  /** The body: one piece, or a stream of several. Throws if the reader has left. */
  body(): Buffer | Readable {
    if (this.#reason) throw this.#reason();
    this.#begun = true;
    const { whole } = this.list.pieces;
    if (whole === undefined) return new ListStream(this.list.user, this.turns, this);
    this.#hold(whole);
    return whole;
  }

  /** The next piece of the stream; null after the last one. */
  next(): Buffer | null {
    if (this.#place === undefined) return null;
    const { text, next } = this.list.pieces.at(this.#number++, this.#place);
    this.#place = next;
    this.#hold(text);
    return text;
  }

  close(): void {
    // Reaches no client.
    this.#leave(() => malformedHttp());
  }

  abandon(): void {
    this.#leave(() => new Overloaded('too much memory is taken by responses'));
    if (this.#begun) this.response.destroy();
  }

  #leave(reason: () => Error): void {
    if (!this.list.leave(this)) return;
    this.#held.splice(0).forEach((piece) => this.#release(piece));
    this.#reason = reason;
    this.#reject?.(reason());
  }

  /** Counts a piece until it has left the socket. The response may be abandoned at once. */
  #hold(piece: Buffer): void {
    this.#held.push(piece);
    this.memory.hold(this.list.user, piece, () => piece.length);
    if (this.#held.length > MAX_HELD) this.#release(this.#held.shift()!);
  }

  #release(piece: Buffer): void {
    this.memory.release(this.list.user, piece);
  }
}

/** Pushes a piece when its user has the turn. It reads none ahead. */
class ListStream extends Readable implements Startable {
  constructor(
    readonly lane: User,
    private readonly turns: RequestScheduler,
    private readonly reader: LongListReader,
  ) {
    super({ highWaterMark: 0 });
  }

  override _read(): void {
    this.turns.schedule(this);
  }

  /** Called by the scheduler. */
  start(): void {
    try {
      this.push(this.reader.next());
    } catch (error) {
      this.destroy(error as Error);
    }
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.turns.cancel(this);
    done(error);
  }
}
