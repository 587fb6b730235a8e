import { type BigIntStats, readFileSync, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Authenticator, Clock, User } from '../../application';
import { BrokenTokenFile, UnreadableTokenFile, parseTokenFile, usersByDigest } from './token-file-format';
import { tokenDigest } from './token-digest';

/** What the file's reader has to tell the operator. None of it holds a token or a digest. */
export interface TokenFileObserver {
  read(file: { readonly tokens: number }): void;
  /** The file cannot be used; what was read before stays in force. */
  broken(problem: string): void;
  /** Others on this machine may read or change the file. */
  exposed(): void;
}

/**
 * Looked at by name and this often, rather than watched: that also sees a
 * file that is replaced, mounted secrets whose symbolic links are swapped, and
 * file systems that report no changes. A look is one `stat`.
 */
const LOOK_EVERY_MS = 250;
const OF_OTHERS = 0o027n;

/**
 * Users and the digests of their tokens, from a file that may change at any
 * time. A token that was taken out is refused from the moment of the next
 * look, or at once after {@link reload}: nothing is remembered across readings.
 */
export class TokenFile implements Authenticator {
  #users: ReadonlyMap<string, User> = new Map();
  #version = '';
  /** Why the content could not be read: each look tries again, and only the first one reports it. */
  #unreadable: string | undefined;
  #cancelLook = () => {};
  #closed = false;

  private constructor(
    private readonly path: string,
    private readonly clock: Clock,
    private readonly observer: TokenFileObserver,
  ) {}

  /** @throws {BrokenTokenFile} where there is no usable file to start with. */
  static open(path: string, clock: Clock, observer: TokenFileObserver): TokenFile {
    const file = new TokenFile(path, clock, observer);
    file.#read();
    file.#lookLater();
    return file;
  }

  authenticate(token: string): User | undefined {
    return this.#users.get(tokenDigest(token));
  }

  /** Reads the file now. Where it is broken, what was read before stays in force, and the observer is told. */
  reload(): void {
    this.#unreadable = undefined;
    this.#readAgain();
  }

  close(): void {
    this.#closed = true;
    this.#cancelLook();
  }

  #read(): void {
    // Before the content: a change in between is then seen by the next look.
    const found = statFile(this.path);
    this.#version = versionOf(found);
    this.#users = readTokens(this.path);
    this.observer.read({ tokens: this.#users.size });
    if (found.mode & OF_OTHERS && process.platform !== 'win32') this.observer.exposed();
  }

  #readAgain(): void {
    const before = this.#unreadable;
    this.#unreadable = undefined;
    try {
      this.#read();
    } catch (error) {
      if (!(error instanceof BrokenTokenFile)) throw error;
      if (error instanceof UnreadableTokenFile) this.#unreadable = error.message;
      if (error.message !== before) this.observer.broken(error.message);
    }
  }

  #lookLater(): void {
    this.#cancelLook = this.clock.after(LOOK_EVERY_MS, () => void this.#look());
  }

  async #look(): Promise<void> {
    const version = await stat(this.path, { bigint: true }).then(versionOf, () => ABSENT);
    if (this.#closed) return;
    if (version !== this.#version || this.#unreadable !== undefined) {
      this.#version = version;
      this.#readAgain();
    }
    this.#lookLater();
  }
}

/**
 * Digest → user, as the file has it. Read in one go: it happens rarely, and so
 * no two readings can overtake each other.
 * @throws {BrokenTokenFile}
 */
export function readTokens(path: string): ReadonlyMap<string, User> {
  if (!statFile(path).isFile()) throw new BrokenTokenFile('it must be a regular file');
  return usersByDigest(parseTokenFile(orBroken(() => readFileSync(path))));
}

const ABSENT = 'absent';

/** Differs whenever the file was replaced or written to. */
function versionOf({ dev, ino, size, mode, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mode, mtimeNs, ctimeNs].join(':');
}

function statFile(path: string): BigIntStats {
  return orBroken(() => statSync(path, { bigint: true }));
}

function orBroken<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new UnreadableTokenFile(
      `it cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`,
    );
  }
}
