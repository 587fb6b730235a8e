import type { Readable, Writable } from 'node:stream';

/** The standard streams of a command. */
export interface Terminal {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  /** The requested data only. */
  readonly stdout: Output;
  /** Messages, progress and errors. */
  readonly stderr: Output;
}

/** A writable stream with backpressure, whose errors reject the next write. */
export class Output {
  #broken: Error | undefined;
  /** Settles when the stream accepts more data, or has ended. All writes that wait share its listeners. */
  #ready: Promise<void> | undefined;

  constructor(private readonly stream: Writable & { readonly isTTY?: boolean; readonly columns?: number }) {
    stream.on('error', (error: Error) => (this.#broken ??= error));
  }

  get isTerminal(): boolean {
    return this.stream.isTTY === true;
  }

  /** Width of the terminal, in characters. */
  get columns(): number {
    return this.stream.columns ?? 80;
  }

  /** Resolves when the stream accepts more data. Rejects once the stream has failed, for example with EPIPE. */
  async write(text: string): Promise<void> {
    if (this.#broken) throw this.#broken;
    if (this.stream.write(text)) return;
    await (this.#ready ??= this.#untilReady());
  }

  async #untilReady(): Promise<void> {
    await new Promise<void>((resolve) => {
      const settle = () => {
        this.#ready = undefined;
        this.stream.off('drain', settle).off('error', settle).off('close', settle);
        resolve();
      };
      this.stream.on('drain', settle).on('error', settle).on('close', settle);
    });
    if (this.#broken) throw this.#broken;
  }

  line(text: string): Promise<void> {
    return this.write(`${text}\n`);
  }
}

/** `1 event`, `2 events`. */
export function pluralize(count: number, one: string): string {
  return `${count} ${one}${count === 1 ? '' : 's'}`;
}

/**
 * Escapes `text` for one line of a terminal: plain text is unchanged, other text is quoted as in JSON.
 * So the name of a plant can neither contain terminal control sequences nor imitate another column.
 */
export function escapeForTerminal(text: string): string {
  if (PLAIN.test(text)) return text;
  return JSON.stringify(text).replaceAll(INVISIBLE, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

const VISIBLE = String.raw`\p{L}\p{M}\p{N}\p{P}\p{S}\u200d`;
// Single spaces between words, and no quotation mark at the start.
const PLAIN = new RegExp(`^(?!")[${VISIBLE}]+(?: [${VISIBLE}]+)*$`, 'u');
const INVISIBLE = new RegExp(`[^ ${VISIBLE}]`, 'gu');
