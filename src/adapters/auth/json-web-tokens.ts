import { type CryptoKey, type JWSHeaderParameters, errors, jwtVerify } from 'jose';
import {
  type Authenticator,
  AuthenticationUnavailable,
  type TokenFault,
  type User,
  parseUser,
} from '../../application';
import type { JwtKeys } from './jwt-keys';
import { TokenCache } from './token-cache';
import { tokenDigest } from './token-digest';

interface JsonWebTokenOptions {
  /** The required `iss` of a token, compared exactly. */
  readonly issuer: string;
  /** The required audience: one of the token's `aud`. */
  readonly audience: string;
  /** The wall clock, in milliseconds since 1970; determines the expiry of tokens. */
  readonly calendar: () => number;
  /** Maximum number of cached valid tokens. */
  readonly cacheSize?: number;
}

/** In characters, which are bytes. A longer token is rejected without parsing. */
const MAX_LENGTH = 4096;
const COMPACT = /^[\w-]+\.[\w-]+\.[\w-]+$/;
/** Tolerated clock skew, in seconds. */
const LEEWAY = 30;
/** An entry takes about 250 bytes. */
const DEFAULT_CACHE_SIZE = 10_000;
// An access token (RFC 9068) or a JWT without a specific type; not, for example, a logout token (RFC 8725, 3.11).
const TYPE = /^(?:application\/)?(?:at\+)?jwt$/i;

/**
 * Authenticates signed JWTs; `sub` is the user.
 *
 * Follows RFC 8725: this class and the configuration determine what is accepted.
 * Of a token's header only `alg`, `typ` and `kid` are used, to select among it. A
 * key in a token, or the address of one, is ignored.
 */
export class JsonWebTokens implements Authenticator {
  readonly #cache: TokenCache;

  constructor(
    private readonly keys: JwtKeys,
    private readonly options: JsonWebTokenOptions,
  ) {
    this.#cache = new TokenCache(options.cacheSize ?? DEFAULT_CACHE_SIZE);
  }

  async authenticate(
    token: string,
    rejected: (fault: TokenFault) => void = () => {},
  ): Promise<User | undefined> {
    if (token.length > MAX_LENGTH || !COMPACT.test(token)) {
      rejected('malformed');
      return undefined;
    }
    const digest = tokenDigest(token);
    // Read before verifying: if the keys change meanwhile, the result is valid but not cached.
    const { generation } = this.keys;
    const cached = this.#cache.get(digest, this.options.calendar(), generation);
    if (cached !== undefined) return cached;

    try {
      const verified = await this.#verify(token);
      this.#cache.set(digest, verified, generation);
      return verified.user;
    } catch (error) {
      if (error instanceof AuthenticationUnavailable) throw error;
      rejected(faultOf(error));
      return undefined;
    }
  }

  async #verify(token: string): Promise<{ user: User; until: number }> {
    const { payload } = await jwtVerify(token, (header) => this.#keyFor(header), {
      algorithms: [...this.keys.algorithms],
      issuer: this.options.issuer,
      audience: this.options.audience,
      requiredClaims: ['exp'],
      clockTolerance: LEEWAY,
      currentDate: new Date(this.options.calendar()),
    });
    const user = typeof payload.sub === 'string' ? parseUser(payload.sub) : undefined;
    if (user === undefined) throw new RejectedToken('subject');
    return { user, until: (payload.exp! + LEEWAY) * 1000 };
  }

  async #keyFor(header: JWSHeaderParameters): Promise<CryptoKey | Uint8Array> {
    // No extensions are supported, so no critical ones are accepted (RFC 7515, 4.1.11).
    if (header.crit !== undefined) throw new RejectedToken('malformed');
    if (header.typ !== undefined && !(typeof header.typ === 'string' && TYPE.test(header.typ)))
      throw new RejectedToken('type');
    const key = await this.keys.find(header);
    if (key === undefined) throw new RejectedToken('unknown_key');
    return key;
  }
}

/** Internal: rejects a token during verification. */
class RejectedToken extends Error {
  constructor(readonly fault: TokenFault) {
    super(fault);
  }
}

const FAULT_OF_CLAIM: Readonly<Record<string, TokenFault>> = {
  iss: 'issuer',
  aud: 'audience',
  nbf: 'not_yet_valid',
};

function faultOf(error: unknown): TokenFault {
  if (error instanceof RejectedToken) return error.fault;
  if (error instanceof errors.JWTExpired) return 'expired';
  if (error instanceof errors.JWTClaimValidationFailed) return FAULT_OF_CLAIM[error.claim] ?? 'claims';
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'signature';
  if (error instanceof errors.JOSEAlgNotAllowed) return 'algorithm';
  return 'malformed';
}
