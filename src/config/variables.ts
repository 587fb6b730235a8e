import {
  addresses,
  integer,
  jwksUrl,
  jwtSecret,
  keyPrefix,
  oneOf,
  redisUrl,
  text,
  tokens,
  tokensFile,
} from './parsers';
import { MASK, withoutPassword, withoutQuery, withoutTokens } from './masks';

export interface Variable<T> {
  /** For people; with range and unit. */
  readonly meaning: string;
  /** As it would be written; absent where the variable is unset by default. */
  readonly fallback?: string;
  /** As it may be shown, where it holds a secret. */
  readonly mask?: (written: string) => string;
  readonly parse: (text: string) => T;
}

/**
 * Everything the service can be told from outside: the one list that reading,
 * `--help` and the README's table come from.
 */
const VARIABLES = {
  HOST: withDefault('127.0.0.1', 'address to listen on', text),
  PORT: withDefault('3000', 'port to listen on, 0 … 65535; 0 picks a free one', integer(0, 65_535)),
  EVENT_STORE: withDefault('memory', '`memory` (lost at exit) or `redis`', oneOf('memory', 'redis')),
  REDIS_URL: withDefault(
    'redis://127.0.0.1:6379',
    '`redis://` or `rediss://` (TLS), with user, password, db',
    redisUrl,
    withoutPassword,
  ),
  REDIS_CLUSTER_NODES: optional('`host:port,host:port` … of a Redis Cluster', addresses),
  REDIS_SENTINELS: optional('`host:port,host:port` … of the Sentinels', addresses),
  REDIS_SENTINEL_MASTER: optional('name under which the Sentinels know the primary', text),
  REDIS_KEY_PREFIX: withDefault(
    'plant-store',
    'what the keys begin with: letters, digits, `. _ : -`',
    keyPrefix,
  ),
  REDIS_WAIT_REPLICAS: withDefault(
    '0',
    'replicas that must hold a write before it is acknowledged, 0 … 16',
    integer(0, 16),
  ),
  AUTH_TOKENS: optional('`user:token,user:token` …, for development and tests', tokens, withoutTokens),
  AUTH_TOKENS_FILE: optional(
    'JSON file of users and the SHA-256 of their tokens; read again when it changes',
    tokensFile,
  ),
  AUTH_JWKS_URL: optional('where the issuer of signed JWTs publishes its keys', jwksUrl, withoutQuery),
  AUTH_JWT_SECRET: optional(
    'instead of `AUTH_JWKS_URL`: the secret shared with the issuer, at least 32 bytes',
    jwtSecret,
    () => MASK,
  ),
  AUTH_JWT_ISSUER: optional('`iss` that a JWT must have', text),
  AUTH_JWT_AUDIENCE: optional('`aud` that a JWT must have; its `sub` is the user', text),
  MAX_CONNECTIONS: withDefault(
    '4096',
    'connections at a time; more are refused, 1 … 1000000',
    integer(1, 1_000_000),
  ),
  MAX_USER_REQUESTS: withDefault(
    '2048',
    'requests of one user in flight at a time; more get 429, 1 … 1000000',
    integer(1, 1_000_000),
  ),
  BODY_LIMIT: withDefault('65536', 'largest request body, in bytes, 1 … 16777216', integer(1, 16_777_216)),
  REQUEST_TIMEOUT_MS: withDefault(
    '15000',
    'within how long a request must have arrived, and a client go on reading, in ms, 100 … 3600000',
    integer(100, 3_600_000),
  ),
  STORE_TIMEOUT_MS: withDefault(
    '2000',
    'within how long the event store must have answered, in ms, 50 … 60000',
    integer(50, 60_000),
  ),
  SHUTDOWN_NOTICE_MS: withDefault(
    '1000',
    'how long new connections are still taken after SIGTERM, readiness failing; at most half of the next; in ms, 0 … 600000',
    integer(0, 600_000),
  ),
  SHUTDOWN_TIMEOUT_MS: withDefault(
    '20000',
    'within how long of the signal it ends: what is left then is cut; in ms, 0 … 3600000',
    integer(0, 3_600_000),
  ),
  CACHE_MAX_BYTES: optional(
    'memory for plants, about, in bytes, 1048576 … 1099511627776; one user may take all of it; unset, 40 % of the heap limit',
    integer(2 ** 20, 2 ** 40),
  ),
  CACHE_MAX_PLANTS: optional(
    'plants kept in memory between requests besides, a user counted as ten more, 0 … 1000000000',
    integer(0, 1_000_000_000),
  ),
  LOG_LEVEL: withDefault(
    'info',
    '`trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`',
    oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
  ),
  LOG_FORMAT: optional(
    '`json` or `pretty`; unset, pretty on a terminal and json elsewhere',
    oneOf('json', 'pretty'),
  ),
};

/** The configuration, typed and checked, each value under its variable's name. */
export type Config = {
  readonly [Name in keyof typeof VARIABLES]: ReturnType<(typeof VARIABLES)[Name]['parse']> extends infer T
    ? (typeof VARIABLES)[Name] extends { fallback: string }
      ? T
      : T | undefined
    : never;
} & { readonly production: boolean };

export const variables: readonly (Variable<unknown> & { readonly name: string })[] = Object.entries(
  VARIABLES,
).map(([name, variable]) => ({ name, ...variable }));

function withDefault<T>(
  fallback: string,
  meaning: string,
  parse: (text: string) => T,
  mask?: Variable<T>['mask'],
) {
  return { fallback, meaning, parse, ...(mask && { mask }) };
}

function optional<T>(meaning: string, parse: (text: string) => T, mask?: Variable<T>['mask']) {
  return { meaning, parse, ...(mask && { mask }) };
}
