import { type BigIntStats, readFileSync, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Authenticator, User } from '../../application';
import type { Clock } from '../../event-sourcing';
import { BrokenTokenFile, parseTokenFile, usersByDigest } from './token-file-format';
import { TokenTable } from './token-table';

/** Observes a token file. No argument has a token or a digest. */
export interface TokenFileObserver {
  read(file: { readonly tokens: number }): void;
  /** The file is invalid; the tokens read before stay valid. */
  broken(problem: string): void;
  /** Others on this machine may read or change the file. */
  exposed(): void;
}

/**
 * Polling interval, in ms. Polling by name (one `stat`) also detects replaced
 * files, mounted secrets whose symbolic links change, and changes on file systems
 * without notifications.
 */
const POLL_MS = 250;
const ACCESS_BY_OTHERS = 0o027n;

/**
 * Authenticates tokens by a file of digests that may change at any time. A token
 * that was removed is invalid after the next poll, or at once after {@link reload}.
 */
export class TokenFile implements Authenticator {
  #table = new TokenTable(new Map());
  /** `undefined` if there is no file. */
  #version: string | undefined;
  /** Why the latest read failed: each poll retries, and only the first one reports it. */
  #problem: string | undefined;
  #cancelPoll = () => {};
  #closed = false;

  private constructor(
    private readonly path: string,
    private readonly clock: Clock,
    private readonly observer: TokenFileObserver,
  ) {}

  /** @throws {BrokenTokenFile} if the file is missing or invalid. */
  static open(path: string, clock: Clock, observer: TokenFileObserver): TokenFile {
    const file = new TokenFile(path, clock, observer);
    file.#read();
    file.#schedulePoll();
    return file;
  }

  authenticate(token: string): User | undefined {
    return this.#table.userOf(token);
  }

  /** Reads the file now. If it is invalid, the tokens read before stay valid, and the observer is notified. */
  reload(): void {
    this.#problem = undefined;
    this.#tryRead();
  }

  close(): void {
    this.#closed = true;
    this.#cancelPoll();
  }

  #read(): void {
    // Before the content, so that the next poll detects a change in between.
    const found = statFile(this.path);
    this.#version = versionOf(found);
    this.#table = new TokenTable(readTokens(this.path));
    this.observer.read({ tokens: this.#table.size });
    if (found.mode & ACCESS_BY_OTHERS && process.platform !== 'win32') this.observer.exposed();
  }

  #tryRead(): void {
    const before = this.#problem;
    this.#problem = undefined;
    try {
      this.#read();
    } catch (error) {
      if (!(error instanceof BrokenTokenFile)) throw error;
      this.#problem = error.message;
      if (error.message !== before) this.observer.broken(error.message);
    }
  }

  #schedulePoll(): void {
    this.#cancelPoll = this.clock.after(POLL_MS, () => void this.#poll());
  }

  async #poll(): Promise<void> {
    const version = await stat(this.path, { bigint: true }).then(versionOf, () => undefined);
    if (this.#closed) return;
    if (version !== this.#version || this.#problem !== undefined) {
      this.#version = version;
      this.#tryRead();
    }
    this.#schedulePoll();
  }
}

/**
 * Reads digest → user from the file. Synchronous, so that two reads cannot
 * overlap; it is rare.
 * @throws {BrokenTokenFile}
 */
export function readTokens(path: string): ReadonlyMap<string, User> {
  if (!statFile(path).isFile()) throw new BrokenTokenFile('it must be a regular file');
  return usersByDigest(parseTokenFile(orUnreadable(() => readFileSync(path))));
}

/** Why the file at `path` is invalid; `undefined` if it is valid. */
export function tokenFileProblem(path: string): string | undefined {
  try {
    readTokens(path);
    return undefined;
  } catch (error) {
    if (error instanceof BrokenTokenFile) return error.message;
    throw error;
  }
}

/** Changes when the file is replaced or written to. */
function versionOf({ dev, ino, size, mode, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mode, mtimeNs, ctimeNs].join();
}

function statFile(path: string): BigIntStats {
  return orUnreadable(() => statSync(path, { bigint: true }));
}

function orUnreadable<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new BrokenTokenFile(`it cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}
