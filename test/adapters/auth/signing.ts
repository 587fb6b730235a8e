/** Keys of an issuer, and tokens signed with them. A token is valid unless the test changes a part of it. */
import {
  type CryptoKey,
  type JWK,
  type JWTPayload,
  SignJWT,
  exportJWK,
  generateKeyPair,
  importJWK,
} from 'jose';

export const ISSUER = 'https://id.example/realms/garden';
export const AUDIENCE = 'plants';

/** The wall clock of these tests, in ms since 1970; and in seconds, as in tokens. */
export const NOW = Date.UTC(2026, 10, 20, 12);
export const SECOND = NOW / 1000;

export const SECRET = new TextEncoder().encode(
  'a secret of 64 bytes, which is enough for any of the three hash.',
);

export interface SigningKey {
  readonly alg: string;
  readonly kid: string;
  readonly privateKey: CryptoKey;
  /** The published form. */
  readonly jwk: JWK;
}

export async function signingKey(kid: string, alg = 'ES256'): Promise<SigningKey> {
  const secret = await (/^[RP]S/.test(alg) ? (rsa ??= privateJwk('RS256')) : privateJwk(alg));
  const privateKey = (await importJWK(secret, alg)) as CryptoKey;
  const { kty, crv, x, y, n, e } = secret;
  return { alg, kid, privateKey, jwk: { ...defined({ kty, crv, x, y, n, e }), kid, use: 'sig' } };
}

/** Shared by all RSA tests: generating a key takes half a second. */
let rsa: Promise<JWK> | undefined;

async function privateJwk(alg: string): Promise<JWK> {
  const { privateKey } = await generateKeyPair(alg, { extractable: true });
  return exportJWK(privateKey);
}

export function goodClaims(): JWTPayload {
  return { iss: ISSUER, aud: AUDIENCE, sub: 'alice', iat: SECOND - 60, exp: SECOND + 300 };
}

/** A valid token, changed by `claims` and `header`. Members that are `undefined` are left out. */
export function signed(
  key: SigningKey | Uint8Array,
  claims: Readonly<Record<string, unknown>> = {},
  header: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const token = new SignJWT(defined({ ...goodClaims(), ...claims }));
  if (key instanceof Uint8Array) {
    return token.setProtectedHeader({ alg: 'HS256', ...header }).sign(key);
  }
  const { alg, kid, privateKey } = key;
  return token.setProtectedHeader({ alg, ...defined({ kid, ...header }) }).sign(privateKey);
}

/** `value`, encoded as a part of a token. */
export function part(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return Buffer.from(text).toString('base64url');
}

function defined(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
