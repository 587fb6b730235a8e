import {
  type CryptoKey,
  type JSONWebKeySet,
  type JWSHeaderParameters,
  createLocalJWKSet,
  errors,
} from 'jose';
import { AuthenticationUnavailable } from '../../application';
import { type Clock } from '../../event-sourcing';
import { download } from './download';
import type { JwtKeys } from './jwt-keys';

export interface IssuerKeysObserver {
  /** The key set was fetched, changed or not. */
  fetched(): void;
  changed(keys: { readonly count: number }): void;
  /** The key set could not be fetched. The known keys stay valid. */
  unavailable(cause: unknown): void;
}

interface IssuerKeysOptions {
  /** Address of the issuer's JWKS (RFC 7517, 5). */
  readonly url: URL;
  readonly clock: Clock;
  readonly observer: IssuerKeysObserver;
}

/** The interval of fetches. A withdrawn key is accepted until the next successful fetch. */
export const REFRESH_EVERY_MS = 300_000;
/** The interval of fetches after a failed one. The known keys stay valid until one succeeds. */
export const RETRY_EVERY_MS = 30_000;
/** Minimum interval between two fetches that tokens cause, and after a failed fetch. */
export const COOL_DOWN_MS = 2_000;
const TIMEOUT_MS = 3_000;
const MAX_BYTES = 256 * 1024;
const MAX_WAITING = 1000;

/**
 * The public keys of an issuer (JWKS). They are fetched at the start, regularly,
 * and when a token names an unknown key, which may be a new one.
 *
 * A token with an unknown key waits for a fetch that started after its arrival.
 * All waiting tokens share one fetch, and there is at most one every
 * {@link COOL_DOWN_MS}, so a flood of invented key names does not reach the issuer.
 */
export class IssuerKeys implements JwtKeys {
  /** jose binds each to one key type (RSA, or EC or OKP of one curve), and to the `alg` of the published key. */
  readonly algorithms = [
    ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
    ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
  ];
  #generation = 0;
  #text: string | undefined;
  #known: ReturnType<typeof createLocalJWKSet> | undefined;

  /** Fetches are numbered. This is the number of the last fetch that was started. */
  #requested = 0;
  /** The number of the last fetch that succeeded. */
  #completed = 0;
  /** The error of the last fetch that ended, if it failed. */
  #failure: Error | undefined;
  #coolAt = -Infinity;
  #fetching: Promise<void> | undefined;
  #waiting = 0;
  #cancelRefresh = () => {};
  readonly #closed = new AbortController();

  private constructor(private readonly options: IssuerKeysOptions) {}

  /** Starts to fetch, without waiting: a service may start before its issuer. */
  static open(options: IssuerKeysOptions): IssuerKeys {
    const keys = new IssuerKeys(options);
    void keys.#refreshRegularly();
    return keys;
  }

  get generation(): number {
    return this.#generation;
  }

  async find(header: JWSHeaderParameters): Promise<CryptoKey | undefined> {
    const requestedBefore = this.#requested;
    for (;;) {
      const key = await this.#lookUp(header);
      if (key !== undefined || this.#completed > requestedBefore) return key;
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
      // No key, or several and nothing in the token to select one.
      if (error instanceof errors.JWKSNoMatchingKey) return undefined;
      if (error instanceof errors.JWKSMultipleMatchingKeys) return undefined;
      throw new AuthenticationUnavailable('a key of the issuer is not usable', { cause: error });
    }
  }

  async #waitForAnswer(): Promise<void> {
    if (this.#waiting >= MAX_WAITING) {
      throw new AuthenticationUnavailable('too many tokens are waiting for the keys of the issuer');
    }
    this.#waiting++;
    try {
      await this.#fetch();
    } catch (cause) {
      throw new AuthenticationUnavailable('the keys of the issuer cannot be fetched', { cause });
    } finally {
      this.#waiting--;
    }
  }

  /** The current fetch, or the next one. Rejects at once for {@link COOL_DOWN_MS} after a failed fetch. */
  #fetch(): Promise<void> {
    const coolDown = this.#coolAt - this.options.clock.now();
    if (coolDown > 0 && this.#failure) return Promise.reject(this.#failure);
    this.#fetching ??= this.#pause(coolDown)
      .then(() => this.#fetchNow())
      .finally(() => (this.#fetching = undefined));
    return this.#fetching;
  }

  async #fetchNow(): Promise<void> {
    const number = ++this.#requested;
    const { url, clock, observer } = this.options;
    const timeout = new AbortController();
    const cancel = clock.after(TIMEOUT_MS, () =>
      timeout.abort(new Error('the issuer did not answer in time')),
    );
    try {
      const text = await download(url, MAX_BYTES, AbortSignal.any([timeout.signal, this.#closed.signal]));
      this.#apply(text);
      observer.fetched();
      this.#completed = number;
      this.#failure = undefined;
    } catch (error) {
      // Node rejects with an error that says only that it was aborted.
      this.#failure = (timeout.signal.aborted ? timeout.signal.reason : error) as Error;
      if (!this.#closed.signal.aborted) observer.unavailable(this.#failure);
      throw this.#failure;
    } finally {
      cancel();
      this.#coolAt = clock.now() + COOL_DOWN_MS;
    }
  }

  #apply(text: string): void {
    if (text === this.#text) return;
    this.#known = createLocalJWKSet(JSON.parse(text) as JSONWebKeySet);
    this.#text = text;
    this.#generation++;
    this.options.observer.changed({ count: this.#known.jwks().keys.length });
  }

  async #refreshRegularly(): Promise<void> {
    const completed = await this.#fetch().then(
      () => true,
      () => false,
    );
    if (this.#closed.signal.aborted) return;
    // No token caused this fetch, so the next token may cause one at once.
    if (completed) this.#coolAt = -Infinity;
    const next = completed ? REFRESH_EVERY_MS : RETRY_EVERY_MS;
    this.#cancelRefresh = this.options.clock.after(next, () => void this.#refreshRegularly());
  }

  async #pause(ms: number): Promise<void> {
    if (ms > 0) await new Promise<void>((resolve) => void this.options.clock.after(ms, resolve));
  }
}
