import {
  type CryptoKey,
  type JSONWebKeySet,
  type JWSHeaderParameters,
  createLocalJWKSet,
  errors,
} from 'jose';
import { AuthenticationUnavailable, type Clock } from '../../application';
import { download } from './download';
import type { JwtKeys } from './jwt-keys';

export interface IssuerKeysObserver {
  changed(keys: { readonly count: number }): void;
  /** The issuer could not be asked, or answered no key set. The keys known so far go on working. */
  unavailable(cause: unknown): void;
}

export interface IssuerKeysOptions {
  /** Of the issuer's JWKS (RFC 7517, 5). */
  readonly url: URL;
  readonly clock: Clock;
  readonly observer: IssuerKeysObserver;
}

/** How old the known keys get, so how long a key that the issuer has withdrawn still works … */
export const REFRESH_EVERY_MS = 300_000;
/** … counted from where the issuer can be reached again, if it could not. */
export const RETRY_EVERY_MS = 30_000;
/** Between two questions that tokens cause, and after one that failed. */
export const COOL_DOWN_MS = 2_000;
const TIMEOUT_MS = 3_000;
const MAX_BYTES = 256 * 1024;
const MAX_WAITING = 1000;

/**
 * The public keys of an issuer. Asked for at the start and regularly, and when
 * a token names a key that is not known: it may be a new one. Whether it is,
 * only an answer tells that the issuer gave to a question asked since; so the
 * token waits for one rather than being refused while it may be good, and all
 * that wait share it. That is what keeps a flood of made-up key names from
 * flooding the issuer: one question every {@link COOL_DOWN_MS}.
 */
export class IssuerKeys implements JwtKeys {
  /** jose pins each to one type of key (RSA, or EC or OKP of one curve), and to the `alg` that the issuer gave the key. */
  readonly algorithms = [
    ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
    ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
  ];
  #generation = 0;
  #text: string | undefined;
  #known: ReturnType<typeof createLocalJWKSet> | undefined;

  /** Questions are numbered; this is the last one asked, … */
  #asked = 0;
  /** … this the last one that was answered, … */
  #answered = 0;
  /** … and why the one before was not, if so. */
  #failure: Error | undefined;
  #coolAt = -Infinity;
  #asking: Promise<void> | undefined;
  #waiting = 0;
  #cancelRefresh = () => {};
  readonly #closed = new AbortController();

  private constructor(private readonly options: IssuerKeysOptions) {}

  /** Begins to ask, and waits for nothing: a service may start before its issuer. */
  static open(options: IssuerKeysOptions): IssuerKeys {
    const keys = new IssuerKeys(options);
    void keys.#refreshRegularly();
    return keys;
  }

  get generation(): number {
    return this.#generation;
  }

  async find(header: JWSHeaderParameters): Promise<CryptoKey | undefined> {
    const askedBefore = this.#asked;
    for (;;) {
      const key = await this.#lookUp(header);
      if (key !== undefined || this.#answered > askedBefore) return key;
      await this.#waitForAnswer();
    }
  }

  close(): void {
    this.#cancelRefresh();
    this.#closed.abort();
  }

  async #lookUp(header: JWSHeaderParameters): Promise<CryptoKey | undefined> {
    try {
      return await this.#known?.(header);
    } catch (error) {
      // None, or several and nothing in the token to choose by: no key that is known to be meant.
      if (error instanceof errors.JWKSNoMatchingKey) return undefined;
      if (error instanceof errors.JWKSMultipleMatchingKeys) return undefined;
      throw new AuthenticationUnavailable('a key of the issuer cannot be used', { cause: error });
    }
  }

  async #waitForAnswer(): Promise<void> {
    if (this.#waiting >= MAX_WAITING) {
      throw new AuthenticationUnavailable('too many tokens wait for the keys of the issuer');
    }
    this.#waiting++;
    try {
      await this.#ask();
    } catch (cause) {
      throw new AuthenticationUnavailable('the keys of the issuer cannot be had', { cause });
    } finally {
      this.#waiting--;
    }
  }

  /** The question under way, or the next one. Rejects where it is not answered; at once while the last one's failure is fresh. */
  #ask(): Promise<void> {
    const coolDown = this.#coolAt - this.options.clock.now();
    if (this.#asking === undefined && coolDown > 0 && this.#failure) return Promise.reject(this.#failure);
    this.#asking ??= this.#pause(coolDown)
      .then(() => this.#askNow())
      .finally(() => (this.#asking = undefined));
    return this.#asking;
  }

  async #askNow(): Promise<void> {
    const number = ++this.#asked;
    const { url, clock, observer } = this.options;
    const tooLong = new AbortController();
    const cancel = clock.after(TIMEOUT_MS, () => tooLong.abort(new Error('no answer in time')));
    try {
      const text = await download(url, MAX_BYTES, AbortSignal.any([tooLong.signal, this.#closed.signal]));
      this.#take(text);
      this.#answered = number;
      this.#failure = undefined;
    } catch (error) {
      this.#failure = error as Error;
      if (!this.#closed.signal.aborted) observer.unavailable(error);
      throw error;
    } finally {
      cancel();
      this.#coolAt = clock.now() + COOL_DOWN_MS;
    }
  }

  #take(text: string): void {
    if (text === this.#text) return;
    this.#known = createLocalJWKSet(JSON.parse(text) as JSONWebKeySet);
    this.#text = text;
    this.#generation++;
    this.options.observer.changed({ count: this.#known.jwks().keys.length });
  }

  async #refreshRegularly(): Promise<void> {
    const answered = await this.#ask().then(
      () => true,
      () => false,
    );
    if (this.#closed.signal.aborted) return;
    // No token caused this question, so the next may cause one at once.
    if (answered) this.#coolAt = -Infinity;
    const next = answered ? REFRESH_EVERY_MS : RETRY_EVERY_MS;
    this.#cancelRefresh = this.options.clock.after(next, () => void this.#refreshRegularly());
  }

  async #pause(ms: number): Promise<void> {
    if (ms > 0) await new Promise<void>((resolve) => void this.options.clock.after(ms, resolve));
  }
}
