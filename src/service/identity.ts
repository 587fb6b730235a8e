import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import { AnyOf } from '../adapters/auth/any-of';
import { IssuerKeys, type IssuerKeysObserver } from '../adapters/auth/issuer-keys';
import { JsonWebTokens } from '../adapters/auth/json-web-tokens';
import { type JwtKeys, sharedSecret } from '../adapters/auth/jwt-keys';
import { StaticTokens } from '../adapters/auth/static-tokens';
import { TokenFile, type TokenFileObserver } from '../adapters/auth/token-file';
import type { Metrics } from '../adapters/metrics';
import { systemClock } from '../adapters/system/clock';
import { type Authenticator, type User, parseUser } from '../application';
import { type Config, authenticates } from './config';

/** Authentication of callers: all sources of tokens that the configuration names, as one. */
export interface Authentication {
  readonly authenticator: Authenticator;
  /** The token of the user `dev`, minted at the start if no source is configured. */
  readonly developmentToken: string | undefined;
  /** Reads the token file again, if there is one, and logs the result. */
  readonly reload: (() => void) | undefined;
  close(): void;
}

type AuthMetrics = Pick<Metrics, 'authSourceRead'>;

const DEVELOPER: User = parseUser('dev')!;

/** Throws only if the token file cannot be used. */
export function openIdentity(config: Config, log: Logger, metrics: AuthMetrics): Authentication {
  const developmentToken = authenticates(config) ? undefined : randomBytes(24).toString('base64url');
  const file =
    config.AUTH_TOKENS_FILE === undefined
      ? undefined
      : TokenFile.open(config.AUTH_TOKENS_FILE, systemClock, observeTokenFile(log, metrics));
  const issuer =
    config.AUTH_JWKS_URL &&
    IssuerKeys.open({
      url: config.AUTH_JWKS_URL,
      clock: systemClock,
      observer: observeIssuer(log, metrics),
    });
  const keys: JwtKeys | undefined =
    issuer ?? (config.AUTH_JWT_SECRET && sharedSecret(config.AUTH_JWT_SECRET));

  const tokens =
    developmentToken === undefined ? config.AUTH_TOKENS : [[developmentToken, DEVELOPER] as const];
  const sources = [
    tokens && new StaticTokens(tokens),
    file,
    // Last, since it is the only source that can be unavailable.
    keys &&
      new JsonWebTokens(keys, {
        issuer: config.AUTH_JWT_ISSUER!,
        audience: config.AUTH_JWT_AUDIENCE!,
        calendar: Date.now,
      }),
  ].filter((source) => source !== undefined);
  return {
    authenticator: sources.length === 1 ? sources[0]! : new AnyOf(sources),
    developmentToken,
    reload: file && (() => file.reload()),
    close() {
      file?.close();
      issuer?.close();
    },
  };
}

function observeTokenFile(log: Logger, metrics: AuthMetrics): TokenFileObserver {
  return {
    read({ tokens }) {
      metrics.authSourceRead('token_file', true);
      log.info({ tokens }, 'read AUTH_TOKENS_FILE');
    },
    broken(problem) {
      metrics.authSourceRead('token_file', false);
      log.error({ problem }, 'AUTH_TOKENS_FILE is broken; the tokens read before stay in force');
    },
    exposed: () =>
      log.warn('other users of this machine may read or change AUTH_TOKENS_FILE; give it mode 0600 or 0640'),
  };
}

function observeIssuer(log: Logger, metrics: AuthMetrics): IssuerKeysObserver {
  return {
    fetched: () => metrics.authSourceRead('key_set', true),
    changed: ({ count }) => log.info({ count }, 'the keys of the JWT issuer are known'),
    unavailable(cause) {
      metrics.authSourceRead('key_set', false);
      log.warn({ err: cause }, 'AUTH_JWKS_URL cannot be read; the keys known so far stay in force');
    },
  };
}
