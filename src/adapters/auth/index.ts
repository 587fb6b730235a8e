/** Authenticators for any transport: fixed tokens, a token file, and signed JWTs. */
export { anyOf, staticTokens, tokenDigest } from './tokens';
export { TokenFile, type TokenFileObserver } from './token-file';
export { BrokenTokenFile } from './token-file-format';
export { JsonWebTokens } from './json-web-tokens';
export { IssuerKeys, type IssuerKeysObserver, type JwtKeys, sharedSecret } from './issuer-keys';
