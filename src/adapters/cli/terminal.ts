import type { Readable, Writable } from 'node:stream';

/** Where a command is typed and answers. */
export interface Terminal {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  /** What was asked for, and nothing else. */
  readonly stdout: Output;
  /** What is said about it. */
  readonly stderr: Output;
}

/** A stream that is written to at the pace of its reader, and whose end is noticed. */
export class Output {
  #broken: Error | undefined;

  constructor(private readonly stream: Writable & { readonly isTTY?: boolean; readonly columns?: number }) {
    stream.on('error', (error: Error) => (this.#broken ??= error));
  }

  get isTerminal(): boolean {
    return this.stream.isTTY === true;
  }

  /** How many characters fit into a line of the terminal. */
  get columns(): number {
    return this.stream.columns ?? 80;
  }

  /** Resolves when there is room for more. Rejects once nobody reads any more. */
  async write(text: string): Promise<void> {
    if (this.#broken) throw this.#broken;
    if (this.stream.write(text)) return;
    await new Promise<void>((resolve, reject) => {
      const settle = () => {
        this.stream.off('drain', settle).off('error', settle).off('close', settle);
        if (this.#broken) reject(this.#broken);
        else resolve();
      };
      this.stream.on('drain', settle).on('error', settle).on('close', settle);
    });
  }

  line(text: string): Promise<void> {
    return this.write(`${text}\n`);
  }
}

/** `1 event`, `2 events`. */
export function counted(count: number, one: string): string {
  return `${count} ${one}${count === 1 ? '' : 's'}`;
}

/**
 * `text` as one line that does nothing to a terminal: as it is where it is
 * plain, else quoted as in JSON. So what a client called a plant can neither
 * move the cursor nor pass for another column.
 */
export function shown(text: string): string {
  if (PLAIN.test(text)) return text;
  return JSON.stringify(text).replaceAll(INVISIBLE, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

const VISIBLE = String.raw`\p{L}\p{M}\p{N}\p{P}\p{S}\u200d`;
// Single blanks between, and no quotation mark in front.
const PLAIN = new RegExp(`^(?!")[${VISIBLE}]+(?: [${VISIBLE}]+)*$`, 'u');
const INVISIBLE = new RegExp(`[^ ${VISIBLE}]`, 'gu');
