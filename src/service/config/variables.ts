import { HTTP_DEFAULTS } from '../../adapters/http/options';
import { MIN_SECRET_LENGTH } from '../../adapters/auth/jwt-keys';
import { REDIS_DEFAULTS } from '../../adapters/redis/defaults';
import { HEAP_SHARE } from '../../adapters/system/heap';
import { SNAPSHOT_EVERY } from '../../event-sourcing';
import { MASK, withoutPassword, withoutQuery, withoutTokens } from './masks';
import {
  addresses,
  eventStore,
  integer,
  jwksUrl,
  jwtSecret,
  keyPrefix,
  oneOf,
  origins,
  redisUrl,
  text,
  tokens,
  uuid,
} from './parsers';

interface Variable<T> {
  /** For people; with range and unit. */
  readonly meaning: string;
  /** As written in the environment; absent if the variable is unset by default. */
  readonly fallback?: string;
  /** What may be shown of the value; absent if it holds no secret. */
  readonly mask?: (written: string) => string;
  /** Throws `InvalidValue` if the text breaks the variable's rule. */
  readonly parse: (text: string) => T;
  /** Without it the variable does nothing; absent if the variable always does something. */
  readonly needs?: Need;
}

/** What the values of other variables must be. */
interface Need {
  /** One of them. */
  readonly variable: string;
  /** For people. */
  readonly what: string;
  readonly isMet: (values: Readonly<Record<string, unknown>>) => boolean;
}

const REDIS: Need = {
  variable: 'EVENT_STORE',
  what: 'EVENT_STORE=redis',
  isMet: ({ EVENT_STORE }) => EVENT_STORE === 'redis',
};
const LASTING_STORE: Need = {
  variable: 'EVENT_STORE',
  what: 'another EVENT_STORE than memory',
  isMet: ({ EVENT_STORE }) => EVENT_STORE !== 'memory',
};
const SIGNED_TOKENS: Need = {
  variable: 'AUTH_JWKS_URL',
  what: 'AUTH_JWKS_URL or AUTH_JWT_SECRET',
  isMet: ({ AUTH_JWKS_URL, AUTH_JWT_SECRET }) => (AUTH_JWKS_URL ?? AUTH_JWT_SECRET) !== undefined,
};

/** Every variable of the service, for `readConfig`, `--help` and the README's table. */
const VARIABLES = {
  HOST: withDefault(HTTP_DEFAULTS.host, 'address to listen on', text),
  PORT: numberWithDefault(3000, 'port to listen on; 0 selects a free one', 0, 65_535),
  ADMIN_PORT: optionalNumber(
    'another port for `/metrics`, which `PORT` then does not serve, and for `/health`; if unset, both are on `PORT` only; 0 selects a free one',
    0,
    65_535,
  ),
  EVENT_STORE: withDefault(
    'memory',
    '`memory` (lost at exit), `redis`, or the path of a module such as `./my-store.js`',
    eventStore,
  ),
  ...needing(REDIS, {
    REDIS_URL: withDefault(
      'redis://127.0.0.1:6379',
      '`redis://` or `rediss://` (TLS), with user, password, db',
      redisUrl,
      withoutPassword,
    ),
    REDIS_CLUSTER_NODES: optional('`host:port,host:port` … of a Redis Cluster', addresses),
    REDIS_SENTINELS: optional('`host:port,host:port` … of the Sentinels', addresses),
    REDIS_SENTINEL_MASTER: optional('name of the primary at the Sentinels', text),
    REDIS_KEY_PREFIX: withDefault(
      REDIS_DEFAULTS.keyPrefix,
      'prefix of all Redis keys: letters, digits, `. _ : -`',
      keyPrefix,
    ),
    REDIS_WAIT_REPLICAS: numberWithDefault(
      REDIS_DEFAULTS.waitReplicas,
      'replicas that must have a write before it is acknowledged',
      0,
      16,
    ),
    REDIS_FEED_LENGTH: numberWithDefault(
      REDIS_DEFAULTS.feedLength,
      'commits that the feed of each of the 64 buckets keeps at least; consumers that come later read the streams',
      100,
      1_000_000,
    ),
    REDIS_STORE_ID: optional(
      'the only store that is used, by the id that `plant-store events store-id` prints; if unset, the one that is found at the start',
      uuid,
    ),
  }),
  AUTH_TOKENS: optional('`user:token,user:token` …, for development and tests', tokens, withoutTokens),
  AUTH_TOKENS_FILE: optional(
    'JSON file of users and the SHA-256 of their tokens; read again when it changes',
    text,
  ),
  AUTH_JWKS_URL: optional(
    'URL of the JSON Web Key Set (JWKS) of the issuer of signed JWTs',
    jwksUrl,
    withoutQuery,
  ),
  AUTH_JWT_SECRET: optional(
    `instead of \`AUTH_JWKS_URL\`: the secret shared with the issuer, at least ${MIN_SECRET_LENGTH} bytes`,
    jwtSecret,
    () => MASK,
  ),
  ...needing(SIGNED_TOKENS, {
    AUTH_JWT_ISSUER: optional('`iss` that a JWT must have', text),
    AUTH_JWT_AUDIENCE: optional('`aud` that a JWT must have; its `sub` is the user', text),
  }),
  MAX_CONNECTIONS: numberWithDefault(
    HTTP_DEFAULTS.maxConnections,
    'open connections; more are refused',
    1,
    1_000_000,
  ),
  MAX_USER_REQUESTS: numberWithDefault(
    HTTP_DEFAULTS.maxUserRequests,
    'requests of one user in flight; more get 429',
    1,
    1_000_000,
  ),
  CORS_ORIGINS: optional(
    'origins whose pages may use the service in a browser (CORS), `https://a.example,https://b.example` …, or `*` for all; if unset, none',
    origins,
  ),
  BODY_LIMIT: numberWithDefault(HTTP_DEFAULTS.bodyLimit, 'largest request body, in bytes', 1, 16_777_216),
  REQUEST_TIMEOUT_MS: numberWithDefault(
    HTTP_DEFAULTS.requestTimeoutMs,
    'time for a complete request to arrive, and longest pause of a client in reading its response, in ms',
    100,
    3_600_000,
  ),
  STORE_TIMEOUT_MS: numberWithDefault(
    HTTP_DEFAULTS.storeTimeoutMs,
    'longest time that a request waits for the event store, in ms',
    50,
    60_000,
  ),
  SHUTDOWN_NOTICE_MS: optionalNumber(
    'time after SIGTERM in which readiness fails and connections are still accepted, in ms; at most half of `SHUTDOWN_TIMEOUT_MS`; if unset, 1000 or that half, the smaller',
    0,
    600_000,
  ),
  SHUTDOWN_TIMEOUT_MS: numberWithDefault(
    20_000,
    'time from the signal until all remaining connections are closed, in ms',
    0,
    3_600_000,
  ),
  CACHE_MAX_BYTES: optionalNumber(
    `approximate memory for plants, in bytes; one user may use all of it; if unset, ${100 * HEAP_SHARE} % of the heap limit`,
    2 ** 20,
    2 ** 40,
  ),
  CACHE_MAX_PLANTS: optionalNumber(
    'plants in memory; each user counts as ten more; if unset, only bytes are limited',
    0,
    1_000_000_000,
  ),
  ...needing(LASTING_STORE, {
    SNAPSHOT_EVERY: numberWithDefault(
      SNAPSHOT_EVERY,
      'events after which a snapshot of a user’s plants is saved in Redis; 0 uses no snapshots',
      0,
      1_000_000_000,
    ),
  }),
  LOG_LEVEL: withDefault(
    'info',
    '`trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`',
    oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
  ),
  LOG_FORMAT: optional(
    '`json` or `pretty`; if unset, `pretty` on a terminal, otherwise `json`',
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

/** A group of variables that do nothing without what they need. */
function needing<Group extends Readonly<Record<string, object>>>(needs: Need, group: Group) {
  const members = Object.entries(group).map(([name, variable]) => [name, { ...variable, needs }]);
  return Object.fromEntries(members) as {
    readonly [Name in keyof Group]: Group[Name] & { readonly needs: Need };
  };
}

function withDefault<T>(
  fallback: string,
  meaning: string,
  parse: (text: string) => T,
  mask?: Variable<T>['mask'],
) {
  return { fallback, ...optional(meaning, parse, mask) };
}

function optional<T>(meaning: string, parse: (text: string) => T, mask?: Variable<T>['mask']) {
  return { meaning, parse, ...(mask && { mask }) };
}

function numberWithDefault(fallback: number, meaning: string, least: number, most: number) {
  return { fallback: String(fallback), ...optionalNumber(meaning, least, most) };
}

function optionalNumber(meaning: string, least: number, most: number) {
  return optional(`${meaning} (${least} … ${most})`, integer(least, most));
}
