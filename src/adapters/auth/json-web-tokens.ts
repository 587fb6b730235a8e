import { type CryptoKey, type JWSHeaderParameters, jwtVerify } from 'jose';
import { type Authenticator, AuthenticationUnavailable, type User, parseUser } from '../../application';
import type { JwtKeys } from './jwt-keys';
import { RememberedTokens } from './remembered-tokens';
import { tokenDigest } from './token-digest';

export interface JsonWebTokenOptions {
  /** Who must have issued a token: its `iss`, character for character. */
  readonly issuer: string;
  /** For whom it must have been issued: one of its `aud`. */
  readonly audience: string;
  /** Milliseconds since 1970. Not the monotonic clock: expiry is told by the calendar. */
  readonly calendar: () => number;
  /** How many good tokens are remembered. */
  readonly remember?: number;
}

/** In characters, which are bytes: longer ones are refused unread. */
const MAX_LENGTH = 4096;
const COMPACT = /^[\w-]+\.[\w-]+\.[\w-]+$/;
/** Seconds by which the issuer's clock and ours may differ. */
const LEEWAY = 30;
/** About 250 bytes each. */
const REMEMBERED = 10_000;
// An access token by its own type (RFC 9068) or a plain one; not, say, a logout token (RFC 8725, 3.11).
const TYPE = /^(?:application\/)?(?:at\+)?jwt$/i;

/**
 * Signed JWTs; `sub` is the user. Checked as RFC 8725 asks: what is accepted
 * is fixed here and by the configuration, and of a token's header only `alg`,
 * `typ` and `kid` are heeded, to choose among that. A key in a token, or an
 * address of one, is never looked at.
 */
export class JsonWebTokens implements Authenticator {
  readonly #remembered: RememberedTokens;

  constructor(
    private readonly keys: JwtKeys,
    private readonly options: JsonWebTokenOptions,
  ) {
    this.#remembered = new RememberedTokens(options.remember ?? REMEMBERED);
  }

  async authenticate(token: string): Promise<User | undefined> {
    if (token.length > MAX_LENGTH || !COMPACT.test(token)) return undefined;
    const digest = tokenDigest(token);
    // Before verifying: where the keys change meanwhile, the outcome holds but is not remembered.
    const { generation } = this.keys;
    const remembered = this.#remembered.recall(digest, this.options.calendar(), generation);
    if (remembered !== undefined) return remembered;

    const verified = await this.#verify(token);
    if (verified !== undefined) this.#remembered.remember(digest, verified, generation);
    return verified?.user;
  }

  async #verify(token: string): Promise<{ user: User; until: number } | undefined> {
    try {
      const { payload } = await jwtVerify(token, (header) => this.#keyFor(header), {
        algorithms: [...this.keys.algorithms],
        issuer: this.options.issuer,
        audience: this.options.audience,
        requiredClaims: ['exp'],
        clockTolerance: LEEWAY,
        currentDate: new Date(this.options.calendar()),
      });
      const user = typeof payload.sub === 'string' ? parseUser(payload.sub) : undefined;
      return user && { user, until: (payload.exp! + LEEWAY) * 1000 };
    } catch (error) {
      if (error instanceof AuthenticationUnavailable) throw error;
      // Whatever else is wrong with a token, it speaks for nobody, and its bearer is not told why.
      return undefined;
    }
  }

  async #keyFor(header: JWSHeaderParameters): Promise<CryptoKey | Uint8Array> {
    // No extension is understood here, so none can be demanded (RFC 7515, 4.1.11).
    if (header.crit !== undefined) throw new Refused();
    if (header.typ !== undefined && !(typeof header.typ === 'string' && TYPE.test(header.typ)))
      throw new Refused();
    const key = await this.keys.find(header);
    if (key === undefined) throw new Refused();
    return key;
  }
}

/** Never leaves this file. */
class Refused extends Error {}
